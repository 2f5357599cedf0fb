/** Which address a client counts as: IPv4 whole, IPv6 by its /64, mapped addresses as the IPv4 they are. */

import ipaddr from 'ipaddr.js'

const PLAIN_IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/
/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([0-9a-fA-F:.%]+)\])(?::\d{1,5})?$/
const NETWORK_PARTS = 4

/**
 * Text for a keyed hash, never for a log. `told` is the address as proxies tell it; where that cannot be read the peer
 * counts, so that nobody shares a window with all others who tell nonsense.
 */
export function countedAddress(told: string | undefined, peer: string | undefined): string {
  return readAddress(told) ?? readAddress(peer) ?? 'unknown'
}

function readAddress(address: string | undefined): string | null {
  if (address === undefined) return null
  if (PLAIN_IPV4.test(address)) return address
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? []
  if (ipv4 !== undefined) return ipv4
  const [bare = ''] = (ipv6 ?? address).split('%')
  // The library takes `999` and `0x7f.1` for IPv4 as well; no proxy writes that.
  if (!bare.includes(':') || !ipaddr.isValid(bare)) return null
  const parsed = ipaddr.process(bare)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return parsed.parts
    .slice(0, NETWORK_PARTS)
    .map((part) => part.toString(16))
    .join(':')
}
