/** The address a client is counted under: IPv4 whole, IPv6 by its /64, mapped addresses as IPv4. */

import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import proxyAddr from 'proxy-addr'

import { BoundedMap } from '../../common/bounded-map.ts'
import { lastParts } from '../../common/bounded-parts.ts'
import { LIMITS } from '../../domain/limits.ts'

const PLAIN_IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/
/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`; a zone may be any name of an interface. */
const WITH_PORT = /^"?(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-fA-F:.]+(?:%[^\]]*)?)\])(?::\d{1,5})?"?$/
const NETWORK_PARTS = 4
/** The longest possible address, with a zone and a port, is shorter. Longer texts are not parsed. */
const ADDRESS_CHARS_MAX = 80
/** Addresses of proxies to remember, the latest ones: an installation has a handful, but clients may name any of a trusted network. */
const PROXIES_MAX = 1_000

/**
 * Returns a function that reads the address a request is counted under; `trusted` are the networks whose
 * `X-Forwarded-For` is trusted.
 */
export function addressReader(trusted: readonly string[]): (req: IncomingMessage) => string {
  if (trusted.length === 0) return (req) => countedAddress(req.socket.remoteAddress, undefined)
  const isTrusted = remembering(proxyAddr.compile([...trusted]))
  return (req) => countedAddress(clientAddress(req, isTrusted), req.socket.remoteAddress)
}

/**
 * The first address, from the service's end of the chain of proxies, that is no trusted proxy's. A client may fill the header with addresses
 * of trusted networks, so the chain is followed for so many proxies only; the last one that was looked at then counts.
 */
function clientAddress({ socket, headers }: IncomingMessage, isTrusted: TrustProxy): string | undefined {
  let address = bareAddress(socket.remoteAddress)
  const told = lastParts(String(headers['x-forwarded-for'] ?? ''), ',', LIMITS.forwardedHops)
  for (const [hop, next] of told.filter((each) => each !== '').entries()) {
    if (address === undefined || !isTrusted(address, hop)) break
    address = bareAddress(next)
  }
  return address
}

/**
 * The peer that a connection counts for, spelled as by `addressReader`; null for a trusted proxy, which carries many
 * clients.
 */
export function connectionPeer(trusted: readonly string[]): (address: string | undefined) => string | null {
  const isTrusted = trusted.length === 0 ? () => false : remembering(proxyAddr.compile([...trusted]))
  return (peer) => {
    const address = bareAddress(peer)
    return address !== undefined && isTrusted(address, 0) ? null : (readAddress(address) ?? 'unknown')
  }
}

type TrustProxy = (address: string, hops: number) => boolean

/** Most requests come through the same few proxies, and comparing an address with networks is not cheap. */
function remembering(isTrusted: TrustProxy): TrustProxy {
  const proxies = new BoundedMap<string, true>(PROXIES_MAX)
  return (address, hops) => {
    if (proxies.has(address)) return true
    if (address.length > ADDRESS_CHARS_MAX) return false
    const isProxy = isTrusted(address, hops)
    if (isProxy) proxies.set(address, true)
    return isProxy
  }
}

/**
 * Text for a keyed hash, never for a log. `told` is the address that proxies report. If it cannot be parsed the peer
 * counts instead, so that clients of broken proxies do not all share one window.
 */
function countedAddress(told: string | undefined, peer: string | undefined): string {
  return readAddress(told) ?? readAddress(peer) ?? 'unknown'
}

/** Without port, brackets and zone, as networks are compared with; undefined if it is too long to be an address. */
function bareAddress(text: string | undefined): string | undefined {
  if (text === undefined || text.length > ADDRESS_CHARS_MAX) return undefined
  if (PLAIN_IPV4.test(text)) return text
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? []
  return ipv4 ?? (ipv6 ?? text).split('%')[0]
}

function readAddress(address: string | undefined): string | null {
  const bare = bareAddress(address)
  if (bare === undefined) return null
  // The library also accepts `999` and `0x7f.1` as IPv4; no proxy writes that.
  if (!bare.includes(':')) return PLAIN_IPV4.test(bare) ? bare : null
  if (!ipaddr.isValid(bare)) return null
  const parsed = ipaddr.process(bare)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return parsed.parts
    .slice(0, NETWORK_PARTS)
    .map((part) => part.toString(16))
    .join(':')
}
