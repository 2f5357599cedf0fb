/** X, called through its conversion API. */

import { days, hours, keyRef, token } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'
import { guideSecret, guideSetting } from './guide.ts'

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
  guide: {
    before: ['A conversion event in Events Manager: Add events, with the type Download or Custom.'],
    settings: [
      guideSetting({
        name: 'pixelId',
        label: 'Pixel ID',
        where: 'In X Ads: Tools, Events Manager, your event source.',
        example: 'o87ne',
      }),
      guideSetting({
        name: 'eventId',
        label: 'Event ID',
        where: 'There, the ID of the event: tw, the pixel, and a name of its own.',
        example: 'tw-o87ne-abc12',
      }),
    ],
    ways: [
      {
        title: 'A pixel token',
        fields: [
          guideSecret({
            name: 'pixel-token',
            label: 'Access token',
            where: 'In Events Manager: Install pixel, Manual, Conversions API, Generate access token.',
            example: 'abc123…',
          }),
        ],
      },
    ],
    after: ['Events Manager shows the event as active within a day of the first install.'],
  },
  api: { url: 'https://ads-api.x.com', setting: 'xUrl', what: 'X' },
} as const satisfies ProviderDescriptor
