/**
 * The one rule for addresses of the service and of websites: one alphabet for the compiler, the settings and the hook's
 * script, so that all of them accept the same. It contains no quote, blank or line break.
 */

const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i
const IPV6 = /^\[[0-9a-f:.]{2,45}\]$/i
const MOST_CHARS = 253
const MOST_PORT_DIGITS = 5
/** Scheme, host, port and path; the host is checked separately. */
const ADDRESS = /^https?:\/\/(\[[^\]/]*\]|[^/:[\]]*)(?::([0-9]+))?((?:\/[A-Za-z0-9._~%-]+)*)\/?$/
const BRAND = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const BRAND_CHARS = 31

/** What a parser of texts returns if it cannot use one. */
interface Unusable {
  readonly ok: false
  /** Follows the name of what was read: `must begin with https://`. */
  readonly why: string
}

export function unusable(why: string): Unusable {
  return { ok: false, why }
}

/**
 * Whether this is a host in the plain form of `URL.hostname`: labels joined by single dots, none empty, at most 63
 * characters each, no hyphen at either end of a label and no dot at the end of the host; or an IP address.
 */
export function isPlainHost(host: string): boolean {
  if (host.startsWith('[')) return IPV6.test(host)
  return host.length <= MOST_CHARS && host.split('.').every((label) => LABEL.test(label))
}

/** Whether this is scheme, plain host and port of a website, and nothing else. */
export function isPlainOrigin(text: string): boolean {
  return addressPath(text) === '' && !text.endsWith('/')
}

/** Whether this is an address that paths can be added to: a plain host, and plain path segments. */
export function isPlainBase(text: string): boolean {
  return addressPath(text) !== null
}

/** Lower case words joined by `-`: used in URLs and, in capitals, in names of shell variables. */
export function isBrand(text: string): boolean {
  return text.length <= BRAND_CHARS && BRAND.test(text)
}

/** As people read it: `acme-counts` is "Acme Counts". */
export function brandName(brand: string): string {
  const words = brand.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return words.join(' ')
}

function addressPath(text: string): string | null {
  const [matched, host = '', port = '', path = ''] = ADDRESS.exec(text) ?? []
  return matched !== undefined && isPlainHost(host) && port.length <= MOST_PORT_DIGITS ? path : null
}

/** Whether every percent code of a part of an address stands for a character: whoever uses it has to decode it. */
export function isPercentCoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** The host of a URL as sockets take it: an IPv6 address without the brackets that it has in a URL. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
