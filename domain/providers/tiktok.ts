/** TikTok, called through the Events API. */

import { days, hours, keyRef, limitedDataUse, token } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'

export const tiktok = {
  id: 'tiktok',
  name: 'TikTok',
  isAdvertising: true,
  // The documentation gives no certain limit; 7 days is what comparable providers accept.
  maxAgeMs: days(7) - hours(1),
  dedupeMs: hours(48),
  identifiers: { ttp: 'text', ttclid: 'text', ttclid_at: 'moment' },
  identifierWords: { ttp: 'Browser ID in the cookie `_ttp`.' },
  clickParameters: ['ttclid'],
  site: { source: 'tiktok', category: 'social', names: ['tiktok.com'], ads: { name: 'TikTok Ads', medium: 'cpc' } },
  block: {
    field: 'tiktok',
    schema: {
      type: 'object',
      description: 'A pixel of TikTok.',
      required: ['pixelCode', 'accessTokenRef'],
      properties: {
        pixelCode: token('The pixel that receives the event.'),
        accessTokenRef: keyRef,
        eventName: token('Name of the event at TikTok.', 'Download'),
        testEventCode: token('From Events Manager, Test Events; used in mode Validate.'),
        limitedDataUse,
      },
    },
    secret: { refField: 'accessTokenRef', credential: 'accessToken' },
  },
  api: { url: 'https://business-api.tiktok.com', setting: 'tiktokUrl', what: 'TikTok' },
} as const satisfies ProviderDescriptor
