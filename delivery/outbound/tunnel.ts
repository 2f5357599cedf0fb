/** Opens a connection through a proxy of the operator's, by the method CONNECT (RFC 9110, 9.3.6). */

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'

import { withoutBrackets } from '../../domain/host.ts'

/**
 * Resolves with the tunnel once the proxy has it open.
 * @param proxyUrl as in `OutboundProxy`
 * @param goal `HOST:PORT`, an IPv6 address in brackets
 * @throws Error if the proxy cannot be reached, or refuses; at the latest when the signal aborts
 */
export function openTunnel(proxyUrl: string, goal: string, signal: AbortSignal): Promise<Socket> {
  const proxy = new URL(proxyUrl)
  const start = proxy.protocol === 'https:' ? httpsRequest : httpRequest
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const asked = start({
    host: withoutBrackets(proxy.hostname),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: goal,
    headers: { host: goal, ...authorizationOf(proxy) },
    agent: false,
    signal,
  })
  asked.once('error', reject)
  asked.once('connect', ({ statusCode }, socket: Socket, early: Buffer) => {
    // A server of TLS says nothing before its client does.
    if (statusCode === 200 && early.length === 0) resolve(socket)
    else {
      socket.destroy()
      reject(new Error(`the proxy answers ${statusCode}`))
    }
  })
  asked.end()
  return promise
}

function authorizationOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
