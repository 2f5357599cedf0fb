/** The stand-ins by the setting that points a worker at them. */
// Made from domain/providers/ by `make docs`; do not change it here.

import type { ProviderUrlSetting } from '../domain/providers/index.ts'
import type { StartStandIn } from './server.ts'
import { startGa4StandIn } from './ga4.ts'
import { startGoogleAdsStandIn } from './google-ads.ts'
import { startGoogleOauthStandIn } from './google-oauth.ts'
import { startMetaStandIn } from './meta.ts'
import { startTiktokStandIn } from './tiktok.ts'
import { startXStandIn } from './x.ts'

export const STAND_INS: { readonly [S in ProviderUrlSetting]: StartStandIn } = {
  ga4Url: startGa4StandIn,
  googleAdsUrl: startGoogleAdsStandIn,
  googleOauthUrl: startGoogleOauthStandIn,
  metaUrl: startMetaStandIn,
  tiktokUrl: startTiktokStandIn,
  xUrl: startXStandIn,
}
