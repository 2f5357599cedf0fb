/** Google Analytics 4, called through the Measurement Protocol. */

import { hours, keyRef } from './block-parts.ts'
import type { ProviderDescriptor } from './descriptor.ts'
import { guideSecret, guideSetting } from './guide.ts'

export const ga4 = {
  id: 'ga4',
  name: 'GA4',
  isAdvertising: false,
  // It accepts `timestamp_micros` up to 72 h back and silently changes the time of what is older (Measurement Protocol, use
  // cases); one hour is left for clocks and waits.
  maxAgeMs: hours(71),
  dedupeMs: null,
  // A `session_id` is a number: one greater than JavaScript's largest safe integer would have lost digits when it was parsed.
  identifiers: { client_id: 'text', session_id: 'text or number' },
  identifierWords: {
    client_id: "The client ID in Google's cookie.",
    session_id: "The session ID in Google's cookie.",
  },
  accounts: { idPattern: '^G-[A-Za-z0-9]{1,32}$', what: "an object for each of the stream's measurement IDs" },
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
  guide: {
    before: [
      'Your website carries the Google tag of the stream: it sets the cookie by which GA4 knows a visitor.',
      'Under Admin, Custom definitions, add install_path, platform and install_kind with the scope Event: GA4 shows parameters only then.',
    ],
    settings: [
      guideSetting({
        name: 'measurementId',
        label: 'Measurement ID',
        where: 'In Google Analytics: Admin, Data collection and modification, Data streams, your web stream.',
        example: 'G-ABC1234567',
        meant: (pasted) => pasted.toUpperCase(),
      }),
    ],
    ways: [
      {
        title: 'An API secret',
        fields: [
          guideSecret({
            name: 'api-secret',
            label: 'Secret value',
            where: 'On the page of that stream: Measurement Protocol API secrets, Create.',
            example: 'AbCdEfGhIjKlMnOpQrStUv',
          }),
        ],
      },
    ],
    after: [
      'Reports, Realtime shows install_completed within seconds, other reports within a day.',
      'With the first install, mark install_completed as a key event under Admin, Events.',
    ],
  },
  api: { url: 'https://www.google-analytics.com', setting: 'ga4Url', what: 'GA4' },
} as const satisfies ProviderDescriptor
