/**
 * Which calls leave through the proxy of the network that the service runs in. `HTTPS_PROXY` and `NO_PROXY` have no standard; this reads them as
 * curl and Go do: https://pkg.go.dev/golang.org/x/net/http/httpproxy.
 */

import { isPercentCoded, unusable, withoutBrackets } from '../host.ts'
import type { Parsed } from '../origin.ts'
import { isNetwork, liesIn } from './address.ts'

/** Every call outwards is https, so there is one proxy. */
export interface OutboundProxy {
  /** `http://HOST:PORT` or `https://HOST:PORT`, perhaps with a user name and password. */
  readonly url: string
  /** What is called directly, as `parseNoProxy` gives it. */
  readonly direct: readonly string[]
  /**
   * Whether tenants' addresses go to the proxy as names, which it resolves and refuses if they are not public. Otherwise the service resolves and
   * vets them itself, and asks the proxy for an address.
   */
  readonly resolvesNames: boolean
}

interface Peer {
  /** A name in lower case, or an IP address without brackets. */
  readonly host: string
  readonly port: number
}

/** The address of a proxy: scheme, host and perhaps port, user name and password. The reason never repeats the text. */
export function parseProxyUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null
  const isProxy = url !== null && ['http:', 'https:'].includes(url.protocol) && url.hostname !== ''
  const isPlain = url?.pathname === '/' && url.search === '' && url.hash === ''
  if (!isProxy || !isPlain) return unusable('must be the address of a proxy, such as http://proxy.acme.dev:3128')
  return isPercentCoded(url.username) && isPercentCoded(url.password)
    ? { ok: true, value: url.href }
    : unusable('has a user name or password with a % that stands for no character: write it as %25')
}

/**
 * Entries between commas or spaces: `*`, a name, which stands for all names below it too, with or without a dot or `*.` before it, an IP address, a
 * network in CIDR notation; a name or address may have a port. Lower case; a name keeps no dot before it.
 */
export function parseNoProxy(text: string): readonly string[] {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/^\*?\.(?=.)|(?<=[^.])\.$/g, ''))
    .filter((entry) => entry !== '')
}

/** Ports of the schemes that are called. */
const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'smtp:': 587, 'smtps:': 465 }

/** The proxy's address for a call to this URL; null if it is called directly, as with `http:`, which only stand-ins have. */
export function proxyFor(proxy: OutboundProxy | null, { protocol, hostname, port }: URL): string | null {
  const usual = PORTS[protocol]
  if (proxy === null || usual === undefined) return null
  // The URL standard leaves the case of names in `smtp:` addresses alone.
  const peer = { host: withoutBrackets(hostname).toLowerCase(), port: port === '' ? usual : Number(port) }
  return isProxied(proxy, peer) ? proxy.url : null
}

/** Whether a call goes through the proxy. This machine itself is always called directly. */
export function isProxied({ direct }: { readonly direct: readonly string[] }, { host, port }: Peer): boolean {
  if (host === 'localhost' || host.endsWith('.localhost')) return false
  if (liesIn(host, '127.0.0.0/8') || liesIn(host, '::1/128')) return false
  return !direct.some((entry) => covers(entry, host, port))
}

function covers(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true
  if (isNetwork(entry)) return liesIn(host, entry)
  const [, inBrackets, plain = '', ofPort] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(entry) ?? []
  if (ofPort !== undefined && Number(ofPort) !== port) return false
  const name = inBrackets ?? plain
  return isNetwork(name) ? liesIn(host, name) : host === name || host.endsWith(`.${name}`)
}
