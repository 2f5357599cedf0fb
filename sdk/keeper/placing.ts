/** Decides which addresses carry a landing, and where in them it goes. */

import { CARRIED_NAME } from './carried-form.ts'

/** The answer of `origins`. */
export interface SiteOrigins {
  readonly origins: readonly string[]
  readonly ignoredReferrers: readonly string[]
  readonly crossOrigin: string
}

/** The endings of pages; of other files nothing runs that could read an address. */
const FILE = /\.(?!x?html?$|php$|aspx?$|jsp$)(?:7z|[a-z]\w{0,7})$/i
/** Names of parameters by which a server knows that nobody has changed the address. */
const SIGNATURE = /(?:^|[-_.])(?:sig|sign|signature|hmac|hash|token|jwt|credential|policy)$|(?:Token|Signature)$/i

/** Whether a link from `ownOrigin` to this address carries the landing: a page of another origin of the website, whose address nobody has signed. */
export function mayCarry(url: URL, ownOrigin: string, { origins, crossOrigin }: SiteOrigins): boolean {
  const { origin, pathname, search, hash } = url
  if (crossOrigin !== 'Carry' || origin === ownOrigin || !origins.includes(origin)) return false
  if (url.username || url.password || FILE.test(pathname)) return false
  const names = [...new URLSearchParams(search).keys(), ...new URLSearchParams(hash.slice(1)).keys()]
  return !names.some((name) => SIGNATURE.test(name) || name === CARRIED_NAME)
}

/**
 * The address with what it carries: in the fragment, which no server sees and which survives a redirect; in the query if there is a
 * fragment, or if the page it leads to reads that.
 */
export function addressWith(address: string, carried: string, inQuery: boolean): string {
  const said = `${CARRIED_NAME}=${carried}`
  const [start = '', ...fragment] = address.split('#')
  if (!inQuery && !fragment.length) return `${address}#${said}`
  return [start + (start.includes('?') ? '&' : '?') + said, ...fragment].join('#')
}

/** What an address carries; undefined if nothing. */
export const carriedIn = (address: string): string | undefined =>
  new RegExp(`[?&#]/?${CARRIED_NAME}=([^&#]*)`).exec(address)?.[1]
