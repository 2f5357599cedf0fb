/** Reads the identifiers of GA4: of all measurement IDs that the website's destinations have. */

import type { IdentityReader } from '../core/types.ts'

/**
 * The reader for these measurement IDs, by which it answers; it answers nothing if GA4 does not know the visitor. `prefix` is that of GA4's
 * cookies, as given to its tag.
 */
export const ga4 =
  (measurementIds: readonly string[], prefix = ''): IdentityReader =>
  ({ cookieOf, firstGroup }) => {
    // GA<version>.<depth of domain and path>.<client ID>
    const client_id = firstGroup(/^GA\d\.[\d-]+\.(.+)/, cookieOf(`${prefix}_ga`))
    const sessions: Record<string, object> = {}
    for (const id of measurementIds) {
      // GS1.1.<session>.<...> until 2025, since then GS2.1.s<session>$o<...>$...
      const session_id = firstGroup(/^GS\d\.[\d-]+\.s?(\d+)/, cookieOf(id.replace('G-', `${prefix}_ga_`), true))
      sessions[id] = { client_id, session_id }
    }
    return client_id ? sessions : undefined
  }
