/** Gathers the visitor's identifiers at the website's providers, from the cookies of their own tags and from click IDs. */

import type { Landing } from '../core/landing.ts'
import { firstGroup } from '../core/source.ts'
import type { IdentityReader, SeenVisitor } from '../core/types.ts'
import { cookieReader } from './cookies.ts'
import { readGa4 } from './ga4.ts'

/** Where identifiers are found. */
export interface IdentitySources {
  /** The value of `document.cookie`. */
  readonly cookies: string
  /** Of GA4's cookies, as given to its tag. */
  readonly prefix: string
  /** Of GA4. */
  readonly measurementIds: readonly string[]
  readonly landing: Landing
  /** Of the website's other providers, by provider. */
  readonly readers: Readonly<Record<string, IdentityReader>>
}

interface FoundIdentities {
  /** By provider. Unknown values are undefined, and vanish in JSON. */
  readonly identities: Readonly<Record<string, object | undefined>>
  /** True once the tags that load in parallel with the SDK have written the cookies that a visit should carry. */
  readonly areTagsReady: boolean
}

export function findIdentities({
  cookies,
  prefix,
  measurementIds,
  landing,
  readers,
}: IdentitySources): FoundIdentities {
  const { landed_at, clicks, carried } = landing
  const cookieOf = cookieReader(cookies)
  let areTagsReady = true
  const visitor: SeenVisitor = {
    cookieOf,
    tagCookieOf: (name) => {
      const value = cookieOf(name)
      areTagsReady &&= !!value
      return value
    },
    clickOf: (parameter, own, writtenAtMs = NaN) =>
      carried && own && !(writtenAtMs < landed_at) ? undefined : clicks[parameter],
    firstGroup,
    landing,
  }
  const identities: Record<string, object | undefined> = { ga4: readGa4(visitor, measurementIds, prefix) }
  for (const [provider, read] of Object.entries(readers)) identities[provider] = read(visitor)
  return { identities, areTagsReady }
}
