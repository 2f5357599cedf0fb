/** Google Ads, called through the Data Manager API. */

import { days, digits, secretName } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'

export const googleAds = {
  id: 'google_ads',
  name: 'Google Ads',
  isAdvertising: true,
  // A click counts for at most 90 days, but its receipt expires after 30.
  maxAgeMs: days(30),
  dedupeMs: null,
  identifiers: {
    gclid: 'text',
    wbraid: 'text',
    gbraid: 'text',
    gcl_aw: 'text',
    session_attributes: 'long text',
    gad_source: 'text',
    gad_campaignid: 'text',
  },
  identifierWords: {
    wbraid: 'Click ID of an app campaign on the web.',
    gbraid: 'Click ID of an app campaign.',
    gcl_aw: "Click ID in Google's cookie `_gcl_aw`.",
    session_attributes:
      'Session attributes, as the Google tag gives them. Without them they are made from the landing.',
    gad_source: 'What Google adds to the address of an ad, as `gad_campaignid`; a part of the session attributes.',
    gad_campaignid: 'Likewise.',
  },
  clickParameters: ['gclid', 'wbraid', 'gbraid', 'dclid'],
  site: { source: 'google', category: 'search', names: ['google.*'], ads: { name: 'Google Ads', medium: 'cpc' } },
  block: {
    field: 'googleAds',
    schema: {
      type: 'object',
      description: 'A conversion action of Google Ads.',
      required: ['customerId', 'conversionActionId', 'credentialsRef'],
      properties: {
        customerId: { ...digits, description: 'The account that owns the conversion action.' },
        conversionActionId: { ...digits, description: 'The number of the conversion action, not its resource name.' },
        loginCustomerId: { ...digits, description: 'The manager account, if it is used for access.' },
        consent: {
          type: 'string',
          description:
            'What the visitors of this website consented to. If absent, consent is unspecified, and Google discards the event in Europe.',
          enum: ['Unspecified', 'NotPersonalized', 'Granted'],
        },
        credentialsRef: {
          type: 'object',
          description: 'A Secret with the keys client-id, client-secret and refresh-token, or service-account.json.',
          required: ['name'],
          properties: { name: secretName },
        },
      },
    },
    secret: {
      refField: 'credentialsRef',
      sets: [
        { 'client-id': 'clientId', 'client-secret': 'clientSecret', 'refresh-token': 'refreshToken' },
        { 'service-account.json': 'serviceAccountJson' },
      ],
    },
  },
  api: {
    url: 'https://datamanager.googleapis.com',
    setting: 'googleAdsUrl',
    what: 'the Google Data Manager API',
  },
  tokens: {
    url: 'https://oauth2.googleapis.com',
    setting: 'googleOauthUrl',
    what: 'Google sign-in, which issues access tokens',
  },
} as const satisfies ProviderDescriptor
