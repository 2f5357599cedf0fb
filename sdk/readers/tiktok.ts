/** Reads the identifiers of TikTok. */

import type { IdentityReader } from '../core/types.ts'

export const tiktok: IdentityReader = ({ cookieOf, clickOf, landing }) => {
  const own = cookieOf('ttclid')
  const ttclid = clickOf('ttclid', own)
  return { ttp: cookieOf('_ttp', true), ttclid: ttclid ?? own, ttclid_at: ttclid && landing.landed_at }
}
