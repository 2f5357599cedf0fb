/** TikTok, called through the Events API. */

import { days, hours, keyRef, limitedDataUse, token } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'
import { guideSecret, guideSetting } from './guide.ts'

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
  guide: {
    before: ['A pixel in Events Manager (Web), which is on your website.'],
    settings: [
      guideSetting({
        name: 'pixelCode',
        label: 'Pixel ID',
        where: 'In TikTok Ads Manager: Tools, Events, Web events, Manage; below the name of the pixel.',
        example: 'C4ABCDE1234567890XYZ',
        meant: (pasted) => pasted.toUpperCase(),
      }),
      guideSetting({
        name: 'testEventCode',
        label: 'Test event code',
        where: 'On the page of the pixel: Test events. A trial is shown there; without a code it is only checked here.',
        example: 'TEST12345',
        isOptional: true,
      }),
    ],
    ways: [
      {
        title: 'An access token',
        fields: [
          guideSecret({
            name: 'access-token',
            label: 'Access token',
            where: 'On the page of the pixel: Settings, Events API, Generate access token.',
            example: '0123456789abcdef…',
          }),
        ],
      },
    ],
    after: ['The page of the pixel, Overview, shows Download from the server, some minutes after the first install.'],
  },
  api: { url: 'https://business-api.tiktok.com', setting: 'tiktokUrl', what: 'TikTok' },
} as const satisfies ProviderDescriptor
