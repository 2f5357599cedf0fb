/** The address of each provider: its own, or the one that the operator sets instead. */

import type { ProviderId } from '../../domain/model.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

const PROVIDER_URLS: Readonly<Record<ProviderId, { readonly own: string; readonly setting: keyof Settings }>> = {
  ga4: { own: 'https://www.google-analytics.com', setting: 'ga4Url' },
  google_ads: { own: 'https://datamanager.googleapis.com', setting: 'googleAdsUrl' },
  meta: { own: 'https://graph.facebook.com', setting: 'metaUrl' },
  tiktok: { own: 'https://business-api.tiktok.com', setting: 'tiktokUrl' },
  x: { own: 'https://ads-api.x.com', setting: 'xUrl' },
}

/** Google is the only provider that needs access tokens. */
const GOOGLE_OAUTH_URL = 'https://oauth2.googleapis.com'

/** Origin of the provider's API. */
export function baseUrlOf(provider: ProviderId, settings: Settings): string {
  const { own, setting } = PROVIDER_URLS[provider]
  const value = settings[setting]
  return typeof value === 'string' ? value : own
}

/** Origin of the service that issues access tokens. */
export function tokenUrlOf(settings: Settings): string {
  return settings.googleOauthUrl ?? GOOGLE_OAUTH_URL
}
