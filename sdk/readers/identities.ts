/** Gathers the visitor's identifiers at the website's providers, from the cookies of their own tags and from click IDs. */

import type { Landing } from '../core/landing.ts'
import type { IdentityReader, PageReading, SeenVisitor } from '../core/types.ts'
import { cookieReader } from './cookies.ts'

/** The readers of the website's providers, by provider. */
export type Readers = Record<string, IdentityReader | undefined>

/** By provider. Unknown values are undefined, and vanish in JSON. */
type FoundIdentities = Record<string, object | undefined>

/**
 * What each reader finds in the page's cookies and in the landing. Also true once the tags that load in parallel with the SDK have written
 * the cookies that a visit should carry. Throws if the page has blocked its cookies. Without readers no cookie is read.
 */
export function findIdentities(
  readers: Readers,
  landing: Landing,
  { documentValue, firstGroup }: PageReading,
): [identities: FoundIdentities, areTagsReady: boolean] {
  const { landed_at, clicks, carried } = landing
  let areTagsReady = true
  const visitor: SeenVisitor = {
    cookieOf: (name, isAwaited) => {
      const value = cookieReader(documentValue('cookie'))(name)
      if (isAwaited && !value) areTagsReady = false
      return value
    },
    // Digits of times compare as text, whatever their unit: they begin alike until the year 2286.
    clickOf: (parameter, own, writtenAt = '9') =>
      carried && own && writtenAt >= `${landed_at}` ? undefined : clicks[parameter],
    firstGroup,
    landing,
  }
  const identities: FoundIdentities = {}
  for (const provider in readers) identities[provider] = readers[provider]?.(visitor)
  return [identities, areTagsReady]
}
