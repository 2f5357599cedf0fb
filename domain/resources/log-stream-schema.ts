/** The spec of a LogStream. */

import { LIMITS } from '../limits.ts'
import {
  BUCKET_ADDRESSINGS,
  BUCKET_ENCRYPTIONS,
  LOG_KINDS,
  LOG_STREAM_STARTS,
  type BucketAddressing,
  type BucketEncryption,
  type LogStreamStart,
} from '../model.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import {
  address,
  displayName,
  keyRef,
  PREVIOUS_SECRET_FIELDS,
  ref,
  resourceRef,
  type KeyRef,
  type PreviousSecretSpec,
} from './resource-fields.ts'

/** Longest list of a filter. */
const MOST_ITEMS = 100

export interface LogStreamSpec {
  readonly organizationRef: { readonly name: string; readonly namespace?: string }
  readonly displayName?: string
  readonly s3?: {
    readonly endpoint: string
    readonly region: string
    readonly bucket: string
    readonly prefix?: string
    readonly addressing: BucketAddressing
    readonly encryption?: BucketEncryption
    readonly credentialsRef: { readonly name: string }
  }
  readonly webhook?: PreviousSecretSpec & { readonly url: string; readonly secretRef: KeyRef }
  readonly paused: boolean
  readonly filter: {
    readonly websites: readonly string[]
    readonly kinds: readonly string[]
    readonly minStatus: number
  }
  readonly includeBodies: boolean
  readonly startFrom: LogStreamStart
  readonly flushSeconds: number
  readonly compress: boolean
}

export const LOG_STREAM_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'Forwards Logs to a bucket or a webhook: exactly one of the two.',
  required: ['organizationRef'],
  properties: {
    organizationRef: resourceRef('The Organization this belongs to.', "the organisation's `allowedNamespaces`"),
    displayName,
    s3: {
      type: 'object',
      description: 'A bucket that speaks the protocol of S3.',
      required: ['endpoint', 'region', 'bucket', 'credentialsRef'],
      properties: {
        endpoint: address('outbound', 'For example https://s3.eu-central-1.amazonaws.com.'),
        region: {
          type: 'string',
          description: 'Region that requests are signed for.',
          maxLength: LIMITS.nameChars,
          pattern: '^[A-Za-z0-9_.-]+$',
          patternMeaning: 'must be letters, digits, dots, hyphens and underscores, as in eu-central-1',
        },
        bucket: {
          type: 'string',
          description: 'Name of the bucket.',
          minLength: 3,
          maxLength: 63,
          pattern: '^[a-z0-9][a-z0-9.-]*[a-z0-9]$',
          patternMeaning: 'must be lower case letters, digits, dots and hyphens',
        },
        prefix: { type: 'string', description: 'Prefix of the keys of its objects.', maxLength: 512 },
        addressing: {
          type: 'string',
          description:
            "Where the bucket's name stands: in the path, or before the host, for stores that know nothing else.",
          enum: BUCKET_ADDRESSINGS,
          default: 'Path',
        },
        encryption: {
          type: 'object',
          description:
            'How the store encrypts each object, if the bucket does not do so by itself or refuses objects that do not ask for it.',
          required: ['algorithm'],
          properties: {
            algorithm: { type: 'string', description: 'As S3 names it.', enum: BUCKET_ENCRYPTIONS },
            kmsKeyId: {
              type: 'string',
              description: 'The key, for `aws:kms` and `aws:kms:dsse`.',
              minLength: 1,
              maxLength: 2_048,
              pattern: '^[A-Za-z0-9:/_.-]+$',
              patternMeaning: 'must be the ID or ARN of a key',
            },
          },
        },
        credentialsRef: ref(
          'Secret with the keys access-key-id and secret-access-key, and session-token if they are temporary.',
        ),
      },
    },
    webhook: {
      type: 'object',
      description: 'An address that records are posted to.',
      required: ['url', 'secretRef'],
      properties: {
        url: address('outbound', 'The address that records are posted to.'),
        secretRef: keyRef('Key of a Secret that signs what is posted.'),
        ...PREVIOUS_SECRET_FIELDS,
      },
    },
    paused: { type: 'boolean', description: 'Nothing is sent; new records are kept for seven days.', default: false },
    filter: {
      type: 'object',
      description: 'Which records are sent; empty lists: all.',
      default: { websites: [], kinds: [], minStatus: 0 },
      properties: {
        websites: filterList('Only of these websites, by their IDs.', {
          type: 'string',
          description: 'ID of a website.',
          minLength: 1,
          maxLength: LIMITS.nameChars,
        }),
        kinds: filterList('Only of these kinds.', {
          type: 'string',
          description: 'What a line of Logs is about.',
          enum: LOG_KINDS,
        }),
        minStatus: {
          type: 'integer',
          description: 'Only records with this status or a higher one; with 400, only refusals.',
          default: 0,
          minimum: 0,
          maximum: 599,
        },
      },
    },
    includeBodies: {
      type: 'boolean',
      description: 'Records come with their bodies, as Logs show them.',
      default: true,
    },
    startFrom: {
      type: 'string',
      description:
        'A new stream begins with new records, or with those that an earlier stream of the organisation has kept.',
      default: 'Now',
      enum: LOG_STREAM_STARTS,
    },
    flushSeconds: {
      type: 'integer',
      description: 'Bucket only: how long records gather before they are written.',
      default: 60,
      minimum: 10,
      maximum: 900,
    },
    compress: { type: 'boolean', description: 'Webhook only: bodies are compressed with gzip.', default: false },
  },
}

function filterList(description: string, items: JsonSchema): JsonSchema {
  return { type: 'array', description, default: [], maxItems: MOST_ITEMS, uniqueItems: true, items }
}

/** One name of a prefix: not empty, neither `.` nor `..`, without backslashes and control characters. */
const CHARACTER = String.raw`[^/\\\x00-\x1f\x7f-\x9f]`
const PLAIN = String.raw`[^/.\\\x00-\x1f\x7f-\x9f]`
const NAME = `(${PLAIN}${CHARACTER}*|[.]${PLAIN}${CHARACTER}*|[.][.]${CHARACTER}+)`
const PREFIX = `^(/?${NAME}(/${NAME})*/?)?$`
const ENDPOINT = '^(?i:https)://[^/?]+/?[?]?$'

/** What must hold of a spec beyond its schema; the compiler reports the same. */
export const LOG_STREAM_RULES = [
  { rule: 'has(self.s3) != has(self.webhook)', message: 'must have either s3 or webhook, and not both' },
  {
    rule: `!has(self.s3) || self.s3.endpoint.matches(r'${ENDPOINT}')`,
    message: 's3.endpoint must have neither path nor query',
  },
  {
    rule: `!has(self.s3) || !has(self.s3.prefix) || self.s3.prefix.matches(r'${PREFIX}')`,
    message: 's3.prefix must be names with slashes between them',
  },
] as const
