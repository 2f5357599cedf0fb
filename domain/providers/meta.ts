/** Meta, called through the Conversions API. */

import { days, digits, hours, keyRef, limitedDataUse, token } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'

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
  api: { url: 'https://graph.facebook.com', setting: 'metaUrl', what: 'Meta' },
} as const satisfies ProviderDescriptor
