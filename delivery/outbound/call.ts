/** Calls an address given by a tenant, and nothing else: https, public, no redirects, ten seconds and 64 KB in all. */

import { request as startRequest, type ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

import { LIMITS } from '../../domain/limits.ts'
import { parseOutboundUrl, PUBLIC_ONLY, type OutboundPolicy } from '../../domain/outbound/address.ts'
import { hide, hideInBody } from '../exchange/hide.ts'
import { collectBody, noReply, nothingSeen, replyOf } from '../exchange/partial-reply.ts'
import type { ProviderReply } from '../providers/provider.ts'
import { connectTrusted, connectVetted, NotConnected, type ConnectParts } from './connect.ts'

interface OutboundRequest {
  /** As the tenant wrote it; it is vetted on every call, because names can be repointed. */
  readonly url: string
  readonly method: 'POST' | 'PUT' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  /** Values that must not be logged: keys, signatures, identifiers. */
  readonly secrets: readonly string[]
}

export interface OutboundParts extends Partial<ConnectParts> {
  readonly policy?: OutboundPolicy
  /** An origin that the operator of the service named: it is called as it is, also without encryption. */
  readonly trustedOrigin?: string | undefined
  /** Time limit of the whole call, from the name look-up to the last byte; the default is 10 s. */
  readonly callMs?: number
}

/** What may be stored about a call. */
interface OutboundLog {
  readonly url: string
  readonly responseStatus: number
  readonly responseBody: string
  readonly failure: string
}

interface OutboundAnswer {
  /**
   * `failure` is empty if an answer came, otherwise `unsendable`, `address_refused`, `name_unknown`, `connection`,
   * `tls`, `timeout`, `too_large` or `encoded`. A redirect is an answer like any other, with its status.
   */
  readonly reply: ProviderReply
  readonly log: OutboundLog
}

/** Never rejects. A connection carries one call, so that no later one uses an address that was vetted for this one. */
export async function callOutbound(request: OutboundRequest, parts: OutboundParts = {}): Promise<OutboundAnswer> {
  const { callMs = LIMITS.webhookMs } = parts
  const connecting = connectingTo(request.url, parts)
  if (connecting === null) return outboundAnswer(request, noReply('address_refused', false))
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), callMs)
  try {
    const socket = await connecting.connect(deadline.signal)
    return outboundAnswer(request, await exchanged({ ...request, url: connecting.href }, socket, deadline.signal))
  } catch (error) {
    const failure = error instanceof NotConnected ? error.failure : 'connection'
    return outboundAnswer(request, noReply(deadline.signal.aborted ? 'timeout' : failure, false))
  } finally {
    clearTimeout(timer)
  }
}

interface Connecting {
  readonly href: string
  /** @throws NotConnected */
  readonly connect: (signal: AbortSignal) => Promise<Socket>
}

/** Null: the address may not be called. */
function connectingTo(
  address: string,
  { policy = PUBLIC_ONLY, callMs: _, trustedOrigin, ...connect }: OutboundParts,
): Connecting | null {
  const url = URL.parse(address)
  if (url !== null && url.origin === trustedOrigin)
    return { href: url.href, connect: (signal) => connectTrusted(url, signal) }
  const target = parseOutboundUrl(address, policy)
  if (!target.ok) return null
  const { value } = target
  return { href: value.href, connect: (signal) => connectVetted(value, { policy, ...connect }, signal) }
}

function exchanged(request: OutboundRequest, socket: Socket, signal: AbortSignal): Promise<ProviderReply> {
  return new Promise((resolve) => {
    const seen = nothingSeen()
    const abort = (): void => finish('timeout')
    /** The first call decides; later events of the dying connection change nothing. */
    function finish(failure: string): void {
      signal.removeEventListener('abort', abort)
      resolve(replyOf(seen, failure, failure !== 'unsendable'))
      socket.destroy()
    }
    let outgoing: ClientRequest
    try {
      outgoing = startCall(request, socket)
    } catch {
      finish('unsendable')
      return
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    outgoing.on('error', () => finish('connection'))
    outgoing.on('response', (answer) => {
      seen.answer = answer
      // Nothing is ever decompressed, so that a small answer cannot become a large one.
      if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') finish('encoded')
      else collectBody(answer, seen, finish)
    })
    // A protocol upgrade would hand over the bare socket; none was requested.
    outgoing.on('upgrade', () => finish('connection'))
    outgoing.end(request.body)
  })
}

/** Plain HTTP on a connection that is already there, and encrypted if it has to be; without an agent none is kept. */
function startCall(request: OutboundRequest, socket: Socket): ClientRequest {
  const url = new URL(request.url)
  const headers = {
    ...request.headers,
    host: url.host,
    'content-length': String(Buffer.byteLength(request.body)),
    'accept-encoding': 'identity',
    connection: 'close',
  }
  const path = `${url.pathname}${url.search}`
  const { method } = request
  return startRequest({
    method,
    path,
    headers,
    createConnection: () => socket,
    maxHeaderSize: LIMITS.outboundHeadBytes,
  })
}

function outboundAnswer({ url, secrets }: OutboundRequest, reply: ProviderReply): OutboundAnswer {
  const responseBody = hideInBody(reply.body, secrets, { isCut: reply.failure !== '' })
  const log = { url: hide(shownUrl(url), secrets), responseStatus: reply.status, responseBody, failure: reply.failure }
  return { reply, log }
}

/** Paths and queries of webhooks are often their only secret: only the origin is shown. */
function shownUrl(text: string): string {
  if (!URL.canParse(text)) return '[not an address]'
  const { origin, pathname, search } = new URL(text)
  return pathname === '/' && search === '' ? origin : `${origin}/[hidden]`
}
