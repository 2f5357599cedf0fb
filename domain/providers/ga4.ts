/** Google Analytics 4, reached by the Measurement Protocol. */

import { hours, keyRef } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'

export const ga4 = {
  id: 'ga4',
  name: 'GA4',
  isAdvertising: false,
  // It takes `timestamp_micros` up to 72 h back and silently re-times what is older (Measurement Protocol, use cases); an
  // hour is kept for clocks and waits.
  maxAgeMs: hours(71),
  dedupeMs: null,
  // A `session_id` that is a number: a greater one than JavaScript's would have lost digits when it was parsed.
  identifiers: { client_id: 'text', session_id: 'text or number' },
  accounts: { idPattern: '^G-[A-Za-z0-9]{1,32}$' },
  clickParameters: [],
  block: {
    field: 'ga4',
    schema: {
      type: 'object',
      description: 'A web data stream of Google Analytics 4.',
      required: ['measurementId', 'apiSecretRef'],
      properties: {
        measurementId: {
          type: 'string',
          description: 'Of the web data stream: G- and letters or digits.',
          minLength: 1,
          maxLength: 32,
          pattern: '^G-[A-Z0-9]+$',
          patternMeaning: 'must be G- followed by capital letters and digits, as in G-ABC1234567',
        },
        apiSecretRef: keyRef,
      },
    },
    secret: { refField: 'apiSecretRef', credential: 'apiSecret' },
  },
  api: { url: 'https://www.google-analytics.com', setting: 'ga4Url', what: 'GA4' },
} as const satisfies ProviderDescriptor
