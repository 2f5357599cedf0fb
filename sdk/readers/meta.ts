/** Reads the identifiers of Meta. */

import type { IdentityReader } from '../core/types.ts'

export const meta: IdentityReader = ({ cookieOf, clickOf, firstGroup, landing }) => {
  const own = cookieOf('_fbc')
  const fbclid = clickOf('fbclid', own, firstGroup(/^fb\.\d+\.(\d+)/, own))
  return {
    fbp: cookieOf('_fbp', true),
    // The pixel's cookie wins, unless it still holds an earlier click.
    fbc: fbclid && !own?.includes(fbclid) ? `fb.1.${landing.landed_at}.${fbclid}` : own,
    fbclid,
  }
}
