/**
 * Decides whether the service may call an address given by a tenant: as text, and as the IP address that a name resolves to.
 *
 * Sources: the IANA registries of special-purpose IPv4 and IPv6 addresses, of special-use domain names and of IPv6
 * address space (read in November 2026), RFC 4291, 5214 and 6052, and the URL standard for the spelling of hosts.
 */

import { unusable, withoutBrackets } from '../host.ts'
import { LIMITS } from '../limits.ts'
import type { Parsed } from '../origin.ts'

/** Target of a request: the URL, and the literal address in it, if there is one. */
export interface OutboundTarget {
  /** Canonical: lower case, punycode, numbers resolved. */
  readonly href: string
  /** Without brackets. */
  readonly host: string
  readonly port: number
  /** Whether `host` is an IP address, so that nothing is left to resolve. */
  readonly isLiteral: boolean
}

/** What an administrator allows beyond the public internet. */
export interface OutboundPolicy {
  readonly ports: readonly number[]
  /** Networks such as `10.1.0.0/16` or `fd00::/8` that may be called although they are not public. */
  readonly networks: readonly string[]
}

export const PUBLIC_ONLY: OutboundPolicy = { ports: [443, 8443], networks: [] }

/**
 * The text must already have the plain shape: `new URL` accepts spellings that people and other parsers read
 * differently.
 */
const SHAPE = /^https:\/\/[^/?#\\@\s\p{Cc}]+([/?][^\\#\s\p{Cc}]*)?$/iu
const NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Names that no public server has; if a resolver knows one, it leads into a private network. */
const INNER_NAMES =
  'localhost local localdomain internal intranet private corp home lan test invalid onion alt arpa svc'.split(' ')

/** Checks everything that the text alone shows; if the host is a name, its addresses must still be checked. */
export function parseOutboundUrl(text: string, policy: OutboundPolicy = PUBLIC_ONLY): Parsed<OutboundTarget> {
  if (text.length > LIMITS.outboundUrlChars) return unusable('is too long')
  if (!/^https:/i.test(text)) return unusable('must begin with https://')
  if (!SHAPE.test(text) || !URL.canParse(text))
    return unusable('is not a plain https address: no user name, fragment, space or backslash')
  const url = new URL(text)
  const port = url.port === '' ? 443 : Number(url.port)
  if (!policy.ports.includes(port)) return unusable(`must use one of the ports ${policy.ports.join(', ')}`)
  const { hostname, href } = url
  const host = withoutBrackets(hostname)
  if (bytesOf(host) !== null) {
    if (!isCallable(host, policy)) return unusable('leads to an address that is not public')
    return { ok: true, value: { href, host, port, isLiteral: true } }
  }
  const why = nameProblem(host)
  return why === null ? { ok: true, value: { href, host, port, isLiteral: false } } : unusable(why)
}

/** Whether an IP address, in any spelling, is public or allowed. False if it cannot be parsed. */
export function isCallable(address: string, policy: OutboundPolicy = PUBLIC_ONLY): boolean {
  const bytes = bytesOf(address)
  if (bytes === null) return false
  if (policy.networks.some((network) => lies(bytes, network))) return true
  return bytes.length === 4 ? !NOT_PUBLIC_V4.some((network) => lies(bytes, network)) : isPublicV6(bytes)
}

function nameProblem(host: string): string | null {
  if (!NAME.test(host)) return 'must name a public host, such as hooks.acme.dev'
  const last = host.slice(host.lastIndexOf('.') + 1)
  return INNER_NAMES.includes(last) ? 'names a host of a private network' : null
}

/**
 * Special-purpose ranges that are not globally reachable, multicast, and internal services of clouds on public
 * addresses.
 */
const NOT_PUBLIC_V4: readonly string[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's host agent answers here, on an address that looks public.
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** Exceptions within the one block that is assigned as global unicast. */
const NOT_PUBLIC_V6: readonly string[] = [
  // IETF protocol assignments: Teredo, benchmarking, ORCHID, AMT and others.
  '2001::/23',
  '2001:db8::/32',
  // 6to4 carries an IPv4 address, public or not, to a relay.
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]

/** Mapped, compatible and translated IPv4, unique local, link local and multicast are all outside of 2000::/3. */
function isPublicV6(bytes: readonly number[]): boolean {
  if (!lies(bytes, '2000::/3') || NOT_PUBLIC_V6.some((network) => lies(bytes, network))) return false
  // ISATAP (RFC 5214) tunnels to the IPv4 address in the last four bytes.
  const isIsatap = ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return !isIsatap
}

/** Whether the text is an IP address, or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [base = '', bits, ...more] = text.split('/')
  const bytes = bytesOf(base)
  if (bytes === null || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bytes.length * 8)
}

/** Whether `host` is an IP address in this network, or this very address. False for names. */
export function liesIn(host: string, network: string): boolean {
  const bytes = bytesOf(host)
  return bytes !== null && lies(bytes, network.includes('/') ? network : `${network}/${bytes.length * 8}`)
}

function lies(bytes: readonly number[], network: string): boolean {
  const [base = '', bits = ''] = network.split('/')
  const from = bytesOf(base)
  if (from?.length !== bytes.length) return false
  return bytes.every((byte, index) => {
    const own = Math.min(Math.max(Number(bits) - index * 8, 0), 8)
    const mask = (0xff << (8 - own)) & 0xff
    return (byte & mask) === ((from[index] ?? 0) & mask)
  })
}

/** Four or sixteen bytes, or null if it is no IP address. The URL parser normalises every spelling. */
function bytesOf(address: string): readonly number[] | null {
  if (/[^0-9a-fx.:]/i.test(address)) return null
  const spelt = address.includes(':') ? `https://[${address}]/` : `https://${address}/`
  if (!URL.canParse(spelt)) return null
  const host = new URL(spelt).hostname
  if (host.startsWith('[')) return bytesOfV6(host.slice(1, -1))
  return /^\d+\.\d+\.\d+\.\d+$/.test(host) ? host.split('.').map(Number) : null
}

/** In the URL parser's spelling: groups in hex, one gap at most, no dotted end. */
function bytesOfV6(text: string): readonly number[] {
  const [head = '', tail] = text.split('::')
  const groupsOf = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)))
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 0xff])
}
