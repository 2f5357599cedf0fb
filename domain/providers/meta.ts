/** Meta, called through the Conversions API. */

import { days, digits, hours, keyRef, limitedDataUse, token } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'
import { plainDigits, guideSecret, guideSetting } from './guide.ts'

export const meta = {
  id: 'meta',
  name: 'Meta',
  isAdvertising: true,
  // One event older than 7 days makes Meta refuse the whole request (Conversions API, `event_time`).
  maxAgeMs: days(7) - hours(1),
  dedupeMs: hours(48),
  identifiers: { fbp: 'text', fbc: 'text', fbclid: 'text' },
  identifierWords: { fbp: 'Browser ID in the cookie `_fbp`.', fbc: 'Click ID in the cookie `_fbc`.' },
  clickParameters: ['fbclid'],
  site: {
    source: 'facebook',
    category: 'social',
    names: ['facebook.com', 'fb.com', 'fb.me', 'fb'],
    ads: { name: 'Meta', medium: 'social', marksUnpaidLinks: true },
  },
  block: {
    field: 'meta',
    schema: {
      type: 'object',
      description: 'A dataset or pixel of Meta.',
      required: ['pixelId', 'accessTokenRef'],
      properties: {
        pixelId: { ...digits, description: 'The dataset or pixel.' },
        accessTokenRef: keyRef,
        eventName: token('Name of the event at Meta.', 'CLIInstall'),
        testEventCode: token('From Events Manager, Test Events; used in mode Validate, where Meta counts the events.'),
        limitedDataUse,
      },
    },
    secret: { refField: 'accessTokenRef', credential: 'accessToken' },
  },
  guide: {
    before: ['A dataset (pixel) in Events Manager, whose pixel is on your website.'],
    settings: [
      guideSetting({
        name: 'pixelId',
        label: 'Dataset ID',
        where: 'In Events Manager: Datasets, your dataset, Settings.',
        example: '1234567890123456',
        meant: plainDigits,
      }),
      guideSetting({
        name: 'testEventCode',
        label: 'Test event code',
        where:
          'In Events Manager: your dataset, Test events, Server. A trial is shown there; without a code it is only checked here.',
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
            where:
              'In the same Settings: Conversions API, Set up with Dataset Quality API or manually, Generate access token.',
            example: 'EAAB…',
          }),
        ],
      },
    ],
    after: [
      'Events Manager, Overview shows CLIInstall, received from the server, within half an hour.',
      'Make a custom conversion from CLIInstall to optimise campaigns for it.',
    ],
  },
  api: { url: 'https://graph.facebook.com', setting: 'metaUrl', what: 'Meta' },
} as const satisfies ProviderDescriptor
