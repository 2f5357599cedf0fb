/**
 * Connects to an address given by a tenant: resolves it once, vets every result, and vets the connected peer again. Through a proxy, it is the proxy
 * that is asked for a vetted address.
 */

import { Resolver } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

import { isCallable, type OutboundPolicy, type OutboundTarget } from '../../domain/outbound/address.ts'
import { withoutBrackets } from '../../domain/host.ts'
import { isProxied, type OutboundProxy } from '../../domain/outbound/proxy.ts'
import { openTunnel } from './tunnel.ts'

/** Why there is no connection. `address_refused`: it leads, or led, to an address that may not be called. */
type ConnectFailure = 'address_refused' | 'name_unknown' | 'connection' | 'tls'

export class NotConnected extends Error {
  readonly failure: ConnectFailure

  constructor(failure: ConnectFailure) {
    super(failure)
    this.failure = failure
  }
}

export interface ConnectParts {
  readonly policy: OutboundPolicy
  /** Absent or null: every call goes out directly. */
  readonly proxy?: OutboundProxy | null | undefined
  /** All addresses of a name, of both families; rejects if there is none. The default queries the name servers. */
  readonly resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>
  /** Name servers to use instead of the machine's, as `127.0.0.1:53`. */
  readonly nameServers?: readonly string[]
  /** Opens a TCP connection to an address that was vetted. */
  readonly dial?: (address: string, port: number) => Socket
  /** Certificates to trust instead of the platform's, as PEM. */
  readonly trustedPem?: string
}

/** Most addresses of one name that are vetted; no real name has more. */
const MOST_ADDRESSES = 64
/** Most of them that are tried, one after the other. */
const MOST_DIALS = 3

/**
 * Resolves with an encrypted connection to a vetted address, whose certificate is for the name.
 * @throws NotConnected, at the latest when the signal aborts.
 */
export async function connectVetted(
  target: OutboundTarget,
  parts: ConnectParts,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { proxy = null } = parts
  const socket =
    proxy !== null && isProxied(proxy, target)
      ? await throughProxy(target, parts, proxy, signal)
      : await directly(target, parts, signal)
  return encrypted(socket, target, parts.trustedPem, signal)
}

/**
 * Resolves with a connection to what the operator of the service named, which is not vetted and may do without encryption.
 * @throws NotConnected, at the latest when the signal aborts.
 */
export async function connectTrusted({ protocol, hostname, port }: URL, signal: AbortSignal): Promise<Socket> {
  const host = withoutBrackets(hostname)
  const isPlain = protocol === 'http:'
  const socket = connectTcp({ host, port: port === '' ? (isPlain ? 80 : 443) : Number(port) })
  await opened(socket, 'connect', signal)
  return isPlain ? socket : encrypted(socket, { host, isLiteral: isIP(host) !== 0 }, undefined, signal)
}

async function directly(target: OutboundTarget, parts: ConnectParts, signal: AbortSignal): Promise<Socket> {
  const { policy, dial = (host, port) => connectTcp({ host, port }) } = parts
  const addresses = await vettedAddresses(target, parts, signal)
  const reach = (address: string) => opened(dial(address, target.port), 'connect', signal)
  const socket = await firstReached(addresses, reach, signal)
  const reached = socket.remoteAddress ?? ''
  if (!isCallable(reached, policy)) {
    socket.destroy()
    throw new NotConnected('address_refused')
  }
  return socket
}

/** The peer is the proxy, so only what it is asked for can be vetted: an address, unless the operator leaves names to it. */
async function throughProxy(
  target: OutboundTarget,
  parts: ConnectParts,
  { url, resolvesNames }: OutboundProxy,
  signal: AbortSignal,
): Promise<Socket> {
  const hosts = resolvesNames ? [target.host] : await vettedAddresses(target, parts, signal)
  const reach = (host: string) => openTunnel(url, `${host.includes(':') ? `[${host}]` : host}:${target.port}`, signal)
  return firstReached(hosts, reach, signal)
}

/** At most as many as are tried. A literal address was vetted with the URL that it stands in. */
async function vettedAddresses(
  target: OutboundTarget,
  parts: ConnectParts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = target.isLiteral ? [target.host] : await resolvedAddresses(target.host, parts, signal)
  // One bad address among good ones is the sign of DNS rebinding: then none is called.
  if (!addresses.every((address) => isCallable(address, parts.policy))) throw new NotConnected('address_refused')
  return addresses.slice(0, MOST_DIALS)
}

async function resolvedAddresses(name: string, parts: ConnectParts, signal: AbortSignal): Promise<readonly string[]> {
  const resolve = parts.resolve ?? ((asked, until) => askNameServers(asked, until, parts.nameServers))
  const addresses = await resolve(name, signal).catch((): readonly string[] => [])
  if (addresses.length === 0) throw new NotConnected('name_unknown')
  if (addresses.length > MOST_ADDRESSES) throw new NotConnected('address_refused')
  return addresses
}

/** Directly from the name servers: no hosts file, no search list, and no thread of the process's pool. */
async function askNameServers(
  name: string,
  signal: AbortSignal,
  nameServers?: readonly string[],
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (nameServers !== undefined) resolver.setServers(nameServers)
  const cancel = (): void => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

async function firstReached(
  addresses: readonly string[],
  reach: (address: string) => Promise<Socket>,
  signal: AbortSignal,
): Promise<Socket> {
  for (const address of addresses) {
    const socket = await reach(address).catch(() => null)
    if (socket !== null) return socket
    if (signal.aborted) break
  }
  throw new NotConnected('connection')
}

async function encrypted(
  socket: Socket,
  { host, isLiteral }: Pick<OutboundTarget, 'host' | 'isLiteral'>,
  trustedPem: string | undefined,
  signal: AbortSignal,
): Promise<TLSSocket> {
  // The handshake's server name must not be an IP address; the certificate is checked against it all the same.
  const name = isLiteral ? { host } : { host, servername: host }
  const trust = trustedPem === undefined ? {} : { ca: trustedPem }
  const secure = connectTls({ socket, ...name, ...trust, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' })
  try {
    return await opened(secure, 'secureConnect', signal)
  } catch {
    socket.destroy()
    throw new NotConnected('tls')
  }
}

/** Resolves on the event; destroys the socket and rejects on an error, an early end, or when the signal aborts. */
function opened<S extends Socket>(
  socket: S,
  event: S extends TLSSocket ? 'secureConnect' : 'connect',
  signal: AbortSignal,
): Promise<S>
function opened(socket: Socket, event: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const give = (done: () => void): void => {
      signal.removeEventListener('abort', abort)
      socket.off(event, succeed).off('close', fail)
      done()
    }
    const succeed = (): void => give(() => resolve(socket))
    const fail = (): void => give(() => reject(new NotConnected('connection')))
    const abort = (): void => void socket.destroy()
    // Stays for the life of the socket: an unhandled error ends the process. `close` follows it.
    socket.on('error', () => undefined)
    socket.once(event, succeed).once('close', fail)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
