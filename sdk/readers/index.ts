/** The readers of all providers but GA4, whose identifiers the recorder reads itself. */
// Made from domain/providers/ by `make docs`; do not change it here.

import type { ProviderId } from '../../domain/providers/index.ts'
import type { IdentityReader } from '../core/types.ts'
import { googleAds } from './google-ads.ts'
import { meta } from './meta.ts'
import { tiktok } from './tiktok.ts'
import { x } from './x.ts'

export const READERS: { readonly [P in Exclude<ProviderId, 'ga4'>]: IdentityReader } = {
  google_ads: googleAds,
  meta,
  tiktok,
  x,
}
