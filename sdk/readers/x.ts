/** Reads the identifiers of X. */

import type { IdentityReader } from '../core/types.ts'

export const x: IdentityReader = ({ cookieOf, clickOf, firstGroup, landing }) => {
  const own = cookieOf('_twclid')
  const twclid = clickOf('twclid', own)
  return {
    // X's tag has stored both the bare ID and a JSON object around it.
    twclid: twclid ?? firstGroup(/^(?:.*"twclid":")?([\w-]+)/, own),
    twclid_at: twclid && landing.landed_at,
  }
}
