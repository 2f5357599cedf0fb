/** Shared by all stand-ins for providers: recording, faults on demand, and answers that fail like networks do. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How requests under a fault end, instead of getting a proper answer. */
export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** Accepts the request and never answers. */
  | { readonly kind: 'hang' }
  /** Answers 200 and then a byte at a time, without end. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** Closes the connection once the request has arrived. */
  | { readonly kind: 'reset' }
  /** Answers properly, later. */
  | { readonly kind: 'delay'; readonly waitMs: number }

export interface StandInOptions {
  /** 0 picks a free port. */
  readonly port: number
  /** The address of this machine to listen on; by default only this machine reaches it. */
  readonly host?: string
  /** Requests kept for reading; older ones are dropped, but still counted. */
  readonly keep?: number
  readonly nowMs?: () => number
}

/** For stand-ins that require a credential. */
export interface GuardedOptions extends StandInOptions {
  readonly guard?: GuardRules
}

interface GuardRules {
  /** Whether this token is valid for this pixel or account; by default every non-empty token is. */
  readonly isToken?: (token: string, key: string) => boolean
  /** Whether a valid token has access to this pixel or account; by default it has. */
  readonly isOpen?: (key: string) => boolean
  /** Requests accepted in one minute of the clock; the rest are throttled in the provider's own form. */
  readonly perMinute?: number
}

export interface SimulatedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly nowMs: number
}

/** A provider's rules applied to a request. */
export interface Judgement {
  /** Pixel, account or client: faults are set for it. */
  readonly key: string
  /** What the documented rules refuse in it; empty if it is valid. */
  readonly messages: readonly string[]
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** One raw request with its findings; for tokens, only whether there was one. */
export interface RecordedRequest {
  readonly number: number
  readonly receivedAtMs: number
  readonly method: string
  readonly path: string
  readonly key: string
  readonly hasToken: boolean
  /** The body as JSON if it is JSON, otherwise as text. */
  readonly body: unknown
  readonly messages: readonly string[]
  /** 0 if no answer was given. */
  readonly answered: number
}

export interface StandInServer {
  readonly url: string
  /** The latest requests, oldest first. */
  requests(): readonly RecordedRequest[]
  /** All requests since the start. */
  total(): number
  /** Applies to one key, or with `*` to all; null ends it. */
  fail(key: string, fault: Fault | null): void
  close(): Promise<void>
}

/** A running stand-in, as far as the code that starts all of them needs it. */
export interface ProviderStandIn {
  readonly url: string
  /** For stand-ins that issue access tokens: whether this token is one of theirs. */
  readonly isToken?: (token: string) => boolean
  close(): Promise<void>
}

export type StartStandIn = (
  options: GuardedOptions & { readonly isRefreshToken?: (token: string) => boolean },
) => Promise<ProviderStandIn>

const KEEP = 1_000
const MAX_BODY_BYTES = 20_000_000
const MAX_DRIPS = 1_000
const TOKEN_HEADERS = ['authorization', 'access-token', 'x-pixel-token']
const SECRET_BODY = 'application/x-www-form-urlencoded'

/**
 * `judge` returns null for addresses that the provider does not have. `GET /requests` shows what was recorded, and
 * `POST /faults` with `{ "key": "*", "fault": { "kind": "hang" } }` makes requests fail; the fault `null` ends that.
 */
export async function startStandIn(
  options: StandInOptions,
  judge: (request: SimulatedRequest) => Judgement | null,
): Promise<StandInServer> {
  const recorded: RecordedRequest[] = []
  const faults = new Map<string, Fault>()
  const keep = options.keep ?? KEEP
  const nowMs = options.nowMs ?? Date.now
  let total = 0

  function fail(key: string, fault: Fault | null): void {
    if (fault === null) faults.delete(key)
    else faults.set(key, fault)
  }

  /** Handles requests to the stand-in itself; true if this was one. */
  function answerItself({ method, url, body }: SimulatedRequest, response: ServerResponse): boolean {
    const isFault = method === 'POST' && url.pathname === '/faults'
    if (isFault) {
      const { key, fault } = askedFault(body)
      fail(key, fault)
      answerJson(response, { key, fault })
    }
    const isRead = method === 'GET' && url.pathname === '/requests'
    if (isRead) answerJson(response, { total, requests: recorded })
    return isFault || isRead
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? '/', 'http://stand-in')
    const body = await readRequestText(incoming, MAX_BODY_BYTES)
    if (body === null) return void response.destroy()
    const request = { method: incoming.method ?? '', url, headers: flatHeaders(incoming), body, nowMs: nowMs() }
    if (answerItself(request, response)) return
    const judgement = judge(request)
    if (judgement === null) return void response.writeHead(404).end()
    await respond(request, judgement, { incoming, response })
  }

  async function respond(
    request: SimulatedRequest,
    judgement: Judgement,
    { incoming, response }: { incoming: IncomingMessage; response: ServerResponse },
  ): Promise<void> {
    const fault = faults.get(judgement.key) ?? faults.get('*') ?? null
    total += 1
    recorded.push(
      recordedRequest(request, judgement, { number: total, answered: answeredStatus(fault, judgement.status) }),
    )
    if (recorded.length > keep) recorded.splice(0, recorded.length - keep)
    if (fault !== null && fault.kind !== 'delay') return applyFault(fault, incoming.socket, response)
    if (fault !== null) await new Promise((resolve) => setTimeout(resolve, fault.waitMs))
    answerJson(response, judgement.body, judgement)
  }

  const server = createServer((incoming, response) => void answer(incoming, response))
  const port = await listenOn(server, options)
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => recorded,
    total: () => total,
    fail,
    close: () => stopServer(server),
  }
}

/** The checks before a provider's own rules. */
interface RequestGuard {
  readonly isToken: (token: string, key: string) => boolean
  readonly isOpen: (key: string) => boolean
  readonly hasRoom: (nowMs: number) => boolean
}

export function createGuard({ isToken, isOpen, perMinute }: GuardRules = {}): RequestGuard {
  return {
    isToken: (token, key) => token !== '' && (isToken?.(token, key) ?? true),
    isOpen: (key) => isOpen?.(key) ?? true,
    hasRoom: createQuota(perMinute),
  }
}

/** Whether one more request fits into the minute's limit; always, without a limit. */
function createQuota(perMinute: number | undefined): (nowMs: number) => boolean {
  let minute = 0
  let taken = 0
  return (nowMs) => {
    const current = Math.floor(nowMs / 60_000)
    if (current !== minute) taken = 0
    minute = current
    taken += 1
    return perMinute === undefined || taken <= perMinute
  }
}

function recordedRequest(
  request: SimulatedRequest,
  judgement: Judgement,
  counted: { readonly number: number; readonly answered: number },
): RecordedRequest {
  const isSecret = request.headers['content-type'] === SECRET_BODY
  return {
    ...counted,
    receivedAtMs: request.nowMs,
    method: request.method,
    path: request.url.pathname,
    key: judgement.key,
    hasToken: TOKEN_HEADERS.some((name) => (request.headers[name] ?? '') !== ''),
    body: isSecret ? '[credentials]' : jsonOrText(request.body),
    messages: judgement.messages,
  }
}

function flatHeaders(incoming: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
}

/** The status that a request gets under a fault; 0 for none. */
export function answeredStatus(fault: Fault | null, proper: number): number {
  if (fault === null || fault.kind === 'delay') return proper
  if (fault.kind === 'status') return fault.status
  return fault.kind === 'drip' ? 200 : 0
}

export function applyFault(fault: Exclude<Fault, { kind: 'delay' }>, socket: Socket, response: ServerResponse): void {
  switch (fault.kind) {
    case 'status':
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
      return
    case 'reset':
      socket.resetAndDestroy()
      return
    case 'drip':
      drip(response, fault.everyMs)
      return
    case 'hang':
      return
  }
}

function drip(response: ServerResponse, everyMs: number): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  let drips = 0
  const timer = setInterval(() => {
    drips += 1
    response.write(' ')
    if (drips >= MAX_DRIPS) response.end()
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

/** Null if it is longer than that, or breaks off. */
export async function readRequestText(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = []
  const arriving: AsyncIterable<Buffer> = request
  let bytes = 0
  try {
    for await (const chunk of arriving) {
      bytes += chunk.length
      if (bytes > maxBytes) return null
      chunks.push(chunk)
    }
  } catch {
    return null
  }
  return Buffer.concat(chunks).toString('utf8')
}

export function jsonOrText(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

export function answerJson(
  response: ServerResponse,
  value: unknown,
  head: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): void {
  const headers = { 'content-type': 'application/json', ...head.headers }
  response.writeHead(head.status ?? 200, headers).end(JSON.stringify(value))
}

/** Resolves with the port. */
export function listenOn(
  server: Server,
  { port, host }: { readonly port: number; readonly host?: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host ?? '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

export function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** What a test or a person asks a stand-in to fail with from now on; null ends it. */
export function askedFault(body: string): { readonly key: string; readonly fault: Fault | null } {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- sent by a test or a person
  return jsonOrText(body) as { readonly key: string; readonly fault: Fault | null }
}
