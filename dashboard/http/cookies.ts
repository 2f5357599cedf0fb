/** The dashboard's two cookies. Over https no other host and no plain page can set or read them. */

import { boundedParts } from '../../common/bounded-parts.ts'
import { LIMITS } from '../../domain/limits.ts'

type CookieName = 'session' | 'browser'

export interface CookieRules {
  /** The name on the wire. */
  readonly nameOf: (cookie: CookieName) => string
  /** The value that was sent; null if there is none, or more than one, or if there are more cookies than browsers keep of a host. */
  readonly read: (header: string | undefined, cookie: CookieName) => string | null
  /** A line of `Set-Cookie`; null deletes the cookie. */
  readonly write: (cookie: CookieName, value: { readonly value: string; readonly forMs: number } | null) => string
}

const WIRE_NAMES: { readonly [C in CookieName]: string } = { session: 'session', browser: 'sign-in' }
/** 32 random bytes in base64url. */
const VALUE = /^[A-Za-z0-9_-]{43}$/

/** Browsers refuse `__Host-` and `Secure` over plain http, as on localhost: there the names have no prefix. */
export function cookieRules(baseUrl: string): CookieRules {
  const isSecure = baseUrl.startsWith('https:')
  const nameOf = (cookie: CookieName): string => `${isSecure ? '__Host-' : ''}${WIRE_NAMES[cookie]}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    nameOf,
    read(header = '', cookie) {
      const prefix = `${nameOf(cookie)}=`
      const values = (boundedParts(header, ';', LIMITS.headerParts) ?? [])
        .filter((part) => part.startsWith(prefix))
        .map((part) => part.slice(prefix.length))
      // With two of them, it is unknown which is ours.
      const [value = ''] = values
      return values.length === 1 && VALUE.test(value) ? value : null
    },
    write: (cookie, value) =>
      value === null
        ? `${nameOf(cookie)}=; Max-Age=0; ${attributes}`
        : `${nameOf(cookie)}=${value.value}; Max-Age=${Math.floor(value.forMs / 1_000)}; ${attributes}`,
  }
}
