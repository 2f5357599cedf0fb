/** The dashboard's cookies: two, and one for each attempt at the identity provider. Over https no other host and no plain page can set or read them. */

import { boundedParts } from '../../common/bounded-parts.ts'
import { LIMITS } from '../../domain/limits.ts'

type CookieName = 'session' | 'browser'

export interface CookieRules {
  /** The name on the wire. */
  readonly nameOf: (cookie: CookieName) => string
  /** The value that was sent; null if there is none, or more than one, or if there are more cookies than browsers keep of a host. */
  readonly read: (header: string | undefined, cookie: CookieName) => string | null
  /** Values by the ID of their attempt, the oldest first, as browsers send them. */
  readonly readAttempts: (header: string | undefined) => ReadonlyMap<string, string>
  /** A line of `Set-Cookie`; null deletes the cookie. */
  readonly write: (cookie: CookieName, value: CookieValue | null) => string
  readonly writeAttempt: (id: string, value: CookieValue | null) => string
}

export interface CookieValue {
  readonly value: string
  readonly forMs: number
}

const WIRE_NAMES: { readonly [C in CookieName]: string } = { session: 'session', browser: 'sign-in' }
const ATTEMPT = 'attempt-'
const ATTEMPT_ID = /^[A-Za-z0-9_-]{1,43}$/
/** 32 random bytes in base64url. */
const VALUE = /^[A-Za-z0-9_-]{43}$/

/** Browsers refuse `__Host-` and `Secure` over plain http, as on localhost: there the names have no prefix. */
export function cookieRules(baseUrl: string): CookieRules {
  const isSecure = baseUrl.startsWith('https:')
  const prefix = isSecure ? '__Host-' : ''
  const nameOf = (cookie: CookieName): string => `${prefix}${WIRE_NAMES[cookie]}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const line = (name: string, value: CookieValue | null): string =>
    value === null
      ? `${name}=; Max-Age=0; ${attributes}`
      : `${name}=${value.value}; Max-Age=${Math.floor(value.forMs / 1_000)}; ${attributes}`
  return {
    nameOf,
    read(header, cookie) {
      const values = cookiesNamed(header, `${nameOf(cookie)}=`)
      // With two of them, it is unknown which is ours.
      const [value = ''] = values
      return values.length === 1 && VALUE.test(value) ? value : null
    },
    readAttempts(header) {
      const pairs = cookiesNamed(header, `${prefix}${ATTEMPT}`).map(
        (text) => [text.split('=', 1)[0] ?? '', text] as const,
      )
      const known = pairs.map(([id, text]) => [id, text.slice(id.length + 1)] as const)
      return new Map(known.filter(([id, value]) => ATTEMPT_ID.test(id) && VALUE.test(value)))
    },
    write: (cookie, value) => line(nameOf(cookie), value),
    writeAttempt: (id, value) => line(`${prefix}${ATTEMPT}${id}`, value),
  }
}

function cookiesNamed(header: string | undefined, prefix: string): readonly string[] {
  return (boundedParts(header ?? '', ';', LIMITS.headerParts) ?? [])
    .filter((part) => part.startsWith(prefix))
    .map((part) => part.slice(prefix.length))
}
