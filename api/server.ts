/**
 * The HTTP server around the app: objects created with Express's prototypes, short timeouts, JSON even for broken HTTP.
 */

import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Express } from 'express'
import type { ErrorCode } from '../domain/errors.ts'
import { LIMITS } from '../domain/limits.ts'
import { guardSockets } from './http/broken-http.ts'
import { HEADER_LINES_MAX } from './collection/refusals.ts'
import {
  limitConnections,
  portOf,
  type ConnectionEnd,
  type ConnectionTimes,
  type PeerShare,
} from '../runtime/connections.ts'

const SERVER_OPTIONS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than the idle time of the usual proxies, so that they close first.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // Checked in refusals.ts: Node's own answer has no body.
  requireHostHeader: false,
} as const
const MOST_CONNECTIONS = 10_000
/** Limits on a client's connections, besides those of Node.js above. */
const CONNECTION_TIMES = {
  /** After Node's own bound, which checks once a second and sends an answer. */
  firstRequestMs: SERVER_OPTIONS.headersTimeout + 2_000,
  idleMs: SERVER_OPTIONS.keepAliveTimeout + SERVER_OPTIONS.headersTimeout,
  idleInCrowdMs: 5_000,
  writeMs: 30_000,
} as const
const DRAIN_MS = 10_000
/** A client on a busy machine may be about to use a connection that looks idle from here. */
const IDLE_GRACE_MS = 1_000
/** After this long without a new connection, the load balancers know that this process is ending. */
const LULL_MS = 100
const LAST_ARRIVALS_MS = 2_000
/** Longer than a request takes that is under way, so that its client is held too when it comes back. */
const HOLD_MS = 1_500

export interface ApiServer {
  readonly port: number
  /** From now on each answer ends its connection; new ones are accepted as before. Clients thus find another process in time. */
  readonly drain: () => void
  /** Keeps answering new requests for a moment, lets requests in flight finish, then closes. */
  readonly close: () => Promise<void>
}

export interface ServerParts {
  /** Called for each message that broke HTTP's own rules. */
  readonly onBroken: (status: number, code: ErrorCode) => void
  /** Called for each connection refused or ended because its client did not use it. */
  readonly onEnded: (why: ConnectionEnd) => void
  readonly peers: PeerShare
  /** Other times than those here; set by tests. */
  readonly connectionTimes?: Partial<ConnectionTimes>
}

const BARE: ServerParts = {
  onBroken: () => undefined,
  onEnded: () => undefined,
  peers: { most: 0, peerOf: () => null },
}

export async function listen(
  app: Express,
  address: { readonly host: string; readonly port: number },
  { onBroken, onEnded, peers, connectionTimes }: ServerParts = BARE,
): Promise<ApiServer> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Express and Node's own constructors are typed for other callers; see the comment above
  const server = createServer({ ...SERVER_OPTIONS, ...withExpressPrototypes(app) }, app as unknown as RequestListener)
  server.maxHeadersCount = HEADER_LINES_MAX + 1
  guardSockets(server, onBroken)
  const times = { ...CONNECTION_TIMES, ...connectionTimes }
  limitConnections(server, { max: MOST_CONNECTIONS, peers, times }, onEnded)
  server.on('checkContinue', (req, res) => {
    // A client that sends `Expect: 100-continue` and is refused need not send the body at all.
    if (Number(req.headers['content-length'] ?? 0) <= LIMITS.bodyBytes) res.writeContinue()
    server.emit('request', req, res)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ ...address, backlog: 1_024 }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return { port: portOf(server), drain: () => drain(server), close: () => close(server) }
}

/**
 * Express replaces the prototypes of every request and response, which discards V8's shapes. Objects created with the
 * right prototypes need no change, which halves the cost of Express (docs/performance.md).
 */
function withExpressPrototypes(app: Express): {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
} {
  function Incoming(this: IncomingMessage, socket: Socket): void {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Express and Node's own constructors are typed for other callers; see the comment above
    Reflect.apply(IncomingMessage as unknown as (socket: Socket) => void, this, [socket])
  }
  Incoming.prototype = app.request
  function Outgoing(this: ServerResponse, req: IncomingMessage, options: unknown): void {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Express and Node's own constructors are typed for other callers; see the comment above
    Reflect.apply(ServerResponse as unknown as (req: IncomingMessage, options: unknown) => void, this, [req, options])
  }
  Outgoing.prototype = app.response
  // The constructor's prototype chain shows V8 how many properties its objects will have. Without that they outgrow
  // their allocation, become dictionaries, and every access is slow.
  Object.setPrototypeOf(Incoming, IncomingMessage)
  Object.setPrototypeOf(Outgoing, ServerResponse)
  return {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Express and Node's own constructors are typed for other callers; see the comment above
    IncomingMessage: Incoming as unknown as typeof IncomingMessage,
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Express and Node's own constructors are typed for other callers; see the comment above
    ServerResponse: Outgoing as unknown as typeof ServerResponse,
  }
}

function drain(server: Server): void {
  server.prependListener('request', (_req, res) => {
    res.shouldKeepAlive = false
  })
}

/**
 * A connection that looks idle may already carry a request, which closing would cut off. So each answer from now on
 * ends its connection, and idle ones get a moment more.
 */
async function close(server: Server): Promise<void> {
  const held = holdable(server)
  if (!(await isLullWithin(server, LAST_ARRIVALS_MS))) {
    held.hold()
    await isLullWithin(server, HOLD_MS)
  }
  // http's own `close` would close the idle ones itself.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
  held.release()
  const lastMoment = setTimeout(() => server.closeIdleConnections(), IDLE_GRACE_MS)
  const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearTimeout(lastMoment)
  clearTimeout(deadline)
}

type Handle = (req: IncomingMessage, res: ServerResponse) => void

/**
 * From now on each answer ends its connection. While requests are held, clients that come back as soon as they are answered
 * do not come back.
 */
function holdable(server: Server): { readonly hold: () => void; readonly release: () => void } {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Express and Node's own constructors are typed for other callers; see the comment above
  const handlers = server.listeners('request') as unknown as readonly Handle[]
  let waiting: (() => void)[] | null = null
  server.removeAllListeners('request')
  server.on('request', (req, res) => {
    res.shouldKeepAlive = false
    const handle = (): void => handlers.forEach((each) => each.call(server, req, res))
    if (waiting === null) handle()
    else waiting.push(handle)
  })
  return {
    hold: () => void (waiting = []),
    release() {
      const kept = waiting ?? []
      waiting = null
      for (const handle of kept) handle()
    },
  }
}

/**
 * Closing a listening socket makes the kernel reset connections that wait to be accepted, of which a turn of the event loop accepts
 * one. So connections are accepted until none has come for a moment, nor in the turn right before this resolves. False if they
 * never ceased.
 */
async function isLullWithin(server: Server, withinMs: number): Promise<boolean> {
  const endAtMs = performance.now() + withinMs
  let cameAtMs = performance.now()
  const came = (): void => void (cameAtMs = performance.now())
  const isQuiet = async (): Promise<boolean> => {
    const beforeMs = cameAtMs
    // Also after this process stood still, when the timer fires before anything is accepted.
    await nextTurn()
    return cameAtMs === beforeMs && performance.now() - cameAtMs >= LULL_MS
  }
  server.on('connection', came)
  try {
    do {
      await wait(LULL_MS)
      if (await isQuiet()) return true
    } while (performance.now() < endAtMs)
    return false
  } finally {
    server.off('connection', came)
  }
}
