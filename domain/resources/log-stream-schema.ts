/** The spec of a LogStream. */

import { LIMITS } from '../limits.ts'
import { LOG_STREAM_STARTS, type LogStreamStart } from '../model.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { address, displayName, keyRef, ref, resourceRef } from './resource-fields.ts'

/** Longest list of a filter. */
const MOST_ITEMS = 100

export interface LogStreamSpec {
  readonly organizationRef: { readonly name: string; readonly namespace?: string }
  readonly displayName?: string
  readonly s3?: { readonly credentialsRef: { readonly name: string }; readonly [field: string]: unknown }
  readonly webhook?: { readonly url: string; readonly secretRef: { readonly name: string; readonly key: string } }
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
          minLength: 1,
          maxLength: LIMITS.nameChars,
        },
        bucket: { type: 'string', description: 'Name of the bucket.', minLength: 3, maxLength: 63 },
        prefix: { type: 'string', description: 'What the keys of its objects begin with.', maxLength: 512 },
        credentialsRef: ref('Secret with the keys access-key-id and secret-access-key.'),
      },
    },
    webhook: {
      type: 'object',
      description: 'An address that records are posted to.',
      required: ['url', 'secretRef'],
      properties: {
        url: address('outbound', 'Where records are posted to.'),
        secretRef: keyRef('Key of a Secret that signs what is posted.'),
      },
    },
    paused: { type: 'boolean', description: 'Nothing is sent; what comes is kept for seven days.', default: false },
    filter: {
      type: 'object',
      description: 'Which records are sent; empty lists: all.',
      default: { websites: [], kinds: [], minStatus: 0 },
      properties: {
        websites: filterList('Only of these websites, by their IDs.', 'ID of a website.'),
        kinds: filterList('Only of these kinds, as Logs show them.', 'For example visit, install or delivery.'),
        minStatus: {
          type: 'integer',
          description: 'Only with this status or a higher one; 400 leaves refusals alone.',
          ...{ default: 0, minimum: 0, maximum: 599 },
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
      description: 'A new stream begins with what comes, or with what an earlier stream of the organisation has kept.',
      default: 'Now',
      enum: LOG_STREAM_STARTS,
    },
    flushSeconds: {
      type: 'integer',
      description: 'Bucket only: how long records gather before they are written.',
      ...{ default: 60, minimum: 10, maximum: 900 },
    },
    compress: { type: 'boolean', description: 'Webhook only: bodies are packed with gzip.', default: false },
  },
}

function filterList(description: string, item: string): JsonSchema {
  const items = { type: 'string', description: item, minLength: 1, maxLength: LIMITS.nameChars } as const
  return { type: 'array', description, default: [], maxItems: MOST_ITEMS, uniqueItems: true, items }
}
