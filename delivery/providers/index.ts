/** The providers that deliveries can be made to. */
// Made from domain/providers/ by `make docs`; do not change it here.

import type { ProviderId } from '../../domain/providers/index.ts'
import type { Provider } from './provider.ts'
import { ga4 } from './ga4.ts'
import { googleAds } from './google-ads.ts'
import { meta } from './meta.ts'
import { tiktok } from './tiktok.ts'
import { x } from './x.ts'

export const PROVIDERS: { readonly [P in ProviderId]: Provider } = {
  ga4,
  google_ads: googleAds,
  meta,
  tiktok,
  x,
}
