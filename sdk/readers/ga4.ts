/** Reads the identifiers of GA4: of all measurement IDs that the website's destinations have. */

import { MEASUREMENT_IDS } from '../core/limits.ts'
import { firstGroup } from '../core/source.ts'
import type { SeenVisitor } from '../core/types.ts'

type SeenCookies = Pick<SeenVisitor, 'cookieOf' | 'tagCookieOf'>

/** By measurement ID; undefined if GA4 does not know the visitor. `prefix` is that of its cookies, as given to its tag. */
export function readGa4(
  { cookieOf, tagCookieOf }: SeenCookies,
  measurementIds: readonly string[],
  prefix: string,
): object | undefined {
  // GA<version>.<depth of domain and path>.<client ID>
  const client_id = firstGroup(/^GA\d\.[\d-]+\.(.+)/, cookieOf(`${prefix}_ga`))
  const sessions = measurementIds.slice(0, MEASUREMENT_IDS).map((id) => {
    // GS1.1.<session>.<...> until 2025, since then GS2.1.s<session>$o<...>$...
    const session_id = firstGroup(/^GS\d\.[\d-]+\.s?(\d+)/, tagCookieOf(id.replace('G-', `${prefix}_ga_`)))
    return [id, { client_id, session_id }] as const
  })
  return client_id ? Object.fromEntries(sessions) : undefined
}
