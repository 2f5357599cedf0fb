/** The block of each provider in a Destination: its schema, and the credentials that its references mean. */

import type { JsonSchema } from './json-schema.ts'
import type { ProviderId } from '../model.ts'

/** One reference inside a block. Either it names a key, or the Secret holds one of several sets of keys. */
export type SecretReading =
  | { readonly refField: string; readonly credential: string }
  /** From Secret key to credential name; the first set whose keys are all present is used. */
  | { readonly refField: string; readonly sets: readonly Readonly<Record<string, string>>[] }

export interface ProviderBlock {
  /** Field of `Destination.spec`. */
  readonly block: string
  /** The whole block, with its references to Secrets. */
  readonly schema: JsonSchema
  readonly secret: SecretReading
}

const REF_CHARS = 253

const keyRef: JsonSchema = {
  type: 'object',
  description: 'A key of a Secret in the same namespace.',
  required: ['name', 'key'],
  properties: {
    name: { type: 'string', description: 'Name of the Secret.', minLength: 1, maxLength: REF_CHARS },
    key: { type: 'string', description: 'The key in it that holds the value.', minLength: 1, maxLength: REF_CHARS },
  },
}

/** Google and Meta number their accounts and pixels. */
const digits: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 20,
  pattern: '^[0-9]+$',
  patternMeaning: 'must be digits only, in quotes and without hyphens',
}

const token = (description: string, fallback?: string): JsonSchema => ({
  type: 'string',
  description,
  ...(fallback === undefined ? {} : { default: fallback }),
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$',
  patternMeaning: 'may have letters, digits, hyphens, dots and underscores only',
})

/** Both mark states of the USA; they do not replace consent. */
const limitedDataUse: JsonSchema = {
  type: 'boolean',
  description: 'Asks the provider to process every event as one whose use the visitor has limited; left out: no.',
}

export const PROVIDER_BLOCKS: { readonly [P in ProviderId]: ProviderBlock } = {
  ga4: {
    block: 'ga4',
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
  google_ads: {
    block: 'googleAds',
    schema: {
      type: 'object',
      description: 'A conversion action of Google Ads.',
      required: ['customerId', 'conversionActionId', 'credentialsRef'],
      properties: {
        customerId: { ...digits, description: 'The account that owns the conversion action.' },
        conversionActionId: { ...digits, description: 'The number of the conversion action, not its resource name.' },
        loginCustomerId: { ...digits, description: 'The manager account, where access runs through one.' },
        consent: {
          type: 'string',
          description:
            'What the visitors of this website consented to; left out: unspecified, which Google discards in Europe.',
          enum: ['Unspecified', 'NotPersonalized', 'Granted'],
        },
        credentialsRef: {
          type: 'object',
          description: 'A Secret with the keys client-id, client-secret and refresh-token, or service-account.json.',
          required: ['name'],
          properties: {
            name: { type: 'string', description: 'Name of the Secret.', minLength: 1, maxLength: REF_CHARS },
          },
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
  meta: {
    block: 'meta',
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
  tiktok: {
    block: 'tiktok',
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
  x: {
    block: 'x',
    schema: {
      type: 'object',
      description: 'An event of a pixel of X.',
      required: ['pixelId', 'eventId', 'pixelTokenRef'],
      properties: {
        pixelId: token('The pixel.'),
        eventId: token('An event made beforehand in the same account, for example tw-o87ne-abc12.'),
        pixelTokenRef: keyRef,
      },
    },
    secret: { refField: 'pixelTokenRef', credential: 'pixelToken' },
  },
}
