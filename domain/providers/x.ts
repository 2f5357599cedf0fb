/** X, called through its conversion API. */

import { days, hours, keyRef, token } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'

export const x = {
  id: 'x',
  name: 'X',
  isAdvertising: true,
  // Bounded by the attribution window of the pixel's event, 30 days unless set wider.
  maxAgeMs: days(30),
  dedupeMs: hours(48),
  identifiers: { twclid: 'text', twclid_at: 'moment' },
  clickParameters: ['twclid'],
  site: {
    source: 'x',
    category: 'social',
    names: ['x.com', 't.co', 'twitter.com', 'twitter', 'tweetdeck.com'],
    ads: { name: 'X Ads', medium: 'cpc' },
  },
  block: {
    field: 'x',
    schema: {
      type: 'object',
      description: 'An event of a pixel of X.',
      required: ['pixelId', 'eventId', 'pixelTokenRef'],
      properties: {
        pixelId: token('The pixel.'),
        eventId: token('An event created beforehand in the same account, for example tw-o87ne-abc12.'),
        pixelTokenRef: keyRef,
      },
    },
    secret: { refField: 'pixelTokenRef', credential: 'pixelToken' },
  },
  api: { url: 'https://ads-api.x.com', setting: 'xUrl', what: 'X' },
} as const satisfies ProviderDescriptor
