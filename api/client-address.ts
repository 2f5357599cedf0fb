/** Which address a client counts as: IPv4 whole, IPv6 by its /64, mapped addresses as the IPv4 they are. */

import ipaddr from 'ipaddr.js'

const PLAIN_IPV4 = /^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/
const NETWORK_PARTS = 4

/** Text for a keyed hash, never for a log. What cannot be read counts as one client, `unknown`. */
export function countedAddress(address: string | undefined): string {
  if (address === undefined) return 'unknown'
  if (PLAIN_IPV4.test(address)) return address
  const [bare = ''] = address.split('%')
  if (!ipaddr.isValid(bare)) return 'unknown'
  const parsed = ipaddr.process(bare)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return parsed.parts
    .slice(0, NETWORK_PARTS)
    .map((part) => part.toString(16))
    .join(':')
}
