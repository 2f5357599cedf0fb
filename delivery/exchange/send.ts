/** Makes one HTTP exchange with a provider: ten seconds in all, no redirects, at most 64 KB of the answer kept. */

import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

import { LIMITS } from '../../domain/limits.ts'
import { proxyFor, type OutboundProxy } from '../../domain/outbound/proxy.ts'
import type { ProviderReply, ProviderRequest } from '../providers/provider.ts'
import { collectBody, noReply, nothingSeen, replyOf } from './partial-reply.ts'

interface SenderOptions {
  /** Origin of the provider, for example `https://www.google-analytics.com`; the operator's own setting. */
  readonly baseUrl: string
  /** Time limit of the whole exchange, from the name look-up to the last byte of the body; the default is 10 s. */
  readonly exchangeMs?: number | undefined
  /** Absent or null: it is called directly. */
  readonly proxy?: OutboundProxy | null | undefined
}

export interface Sender {
  /** Never rejects: a failure is a reply with `failure`. */
  send(request: ProviderRequest): Promise<ProviderReply>
  /** Closes idle connections; exchanges in flight end by themselves. */
  close(): void
}

/** Providers close idle connections after a minute or more; closing first avoids sending into a closing one. */
const IDLE_CONNECTION_MS = 15_000

/** `node:http` instead of fetch: it shows whether a connection was made, which decides if a failure is unclear. */
export function createSender(options: SenderOptions): Sender {
  const base = new URL(options.baseUrl)
  const isSecure = base.protocol === 'https:'
  const agentOptions = { keepAlive: true, timeout: IDLE_CONNECTION_MS, scheduling: 'lifo' } as const
  const proxyUrl = proxyFor(options.proxy ?? null, base)
  const viaProxy = proxyUrl === null ? {} : { proxyEnv: { HTTPS_PROXY: proxyUrl } }
  const agent = isSecure ? new HttpsAgent({ ...agentOptions, ...viaProxy }) : new HttpAgent(agentOptions)
  const exchangeMs = options.exchangeMs ?? LIMITS.webhookMs

  function start(request: ProviderRequest): ClientRequest {
    const bodyBytes = String(Buffer.byteLength(request.body))
    const headers = { ...request.headers, ...(request.method === 'POST' ? { 'content-length': bodyBytes } : {}) }
    const init = { method: request.method, headers, agent }
    const url = new URL(requestTarget(request), base)
    return isSecure ? httpsRequest(url, init) : httpRequest(url, init)
  }

  return {
    send: (request) =>
      requestOnce(start, request, { exchangeMs, connectEvent: isSecure ? 'secureConnect' : 'connect' }),
    close: () => agent.destroy(),
  }
}

/** Path and query as sent. */
export function requestTarget(request: ProviderRequest): string {
  const query = new URLSearchParams(request.query).toString()
  return query === '' ? request.path : `${request.path}?${query}`
}

interface ExchangeOptions {
  readonly exchangeMs: number
  readonly connectEvent: 'connect' | 'secureConnect'
}

function requestOnce(
  start: (request: ProviderRequest) => ClientRequest,
  request: ProviderRequest,
  options: ExchangeOptions,
): Promise<ProviderReply> {
  return new Promise((resolve) => {
    let outgoing: ClientRequest
    try {
      outgoing = start(request)
    } catch {
      // A header or path that HTTP does not allow: nothing left this process.
      resolve(noReply('unsendable', false))
      return
    }
    const seen = nothingSeen()
    let isConnected = false
    const timer = setTimeout(() => finish('timeout'), options.exchangeMs)

    /** The first call decides; later events of the dying connection change nothing. */
    function finish(failure: string): void {
      clearTimeout(timer)
      resolve(replyOf(seen, failure, isConnected))
      if (failure !== '') outgoing.destroy()
    }

    outgoing.on('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      else socket.once(options.connectEvent, () => (isConnected = true))
    })
    outgoing.on('error', () => finish('connection'))
    outgoing.on('response', (answer) => {
      seen.answer = answer
      collectBody(answer, seen, finish)
    })
    outgoing.end(request.method === 'POST' ? request.body : undefined)
  })
}
