/** The spec of a Webhook. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../model.ts'
import {
  address,
  displayName,
  keyRef,
  PREVIOUS_SECRET_FIELDS,
  resourceRef,
  type KeyRef,
  type PreviousSecretSpec,
} from './resource-fields.ts'

export interface WebhookSpec extends PreviousSecretSpec {
  readonly organizationRef: { readonly name: string; readonly namespace?: string }
  readonly displayName?: string
  readonly url: string
  readonly secretRef: KeyRef
  readonly events: readonly WebhookEventType[]
  readonly paused: boolean
}

export const WEBHOOK_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'Sends events of the organisation to an address of yours.',
  required: ['organizationRef', 'url', 'secretRef', 'events'],
  properties: {
    organizationRef: resourceRef('The Organization this belongs to.', "the organisation's `allowedNamespaces`"),
    displayName,
    url: address('outbound', 'The address that events are posted to.'),
    secretRef: keyRef('Key of a Secret that signs what is posted: `whsec_` and 24 to 64 bytes in base64.'),
    ...PREVIOUS_SECRET_FIELDS,
    events: {
      type: 'array',
      description: 'The types of events that are sent.',
      minItems: 1,
      maxItems: WEBHOOK_EVENT_TYPES.length,
      uniqueItems: true,
      items: { type: 'string', description: 'A type of event.', enum: WEBHOOK_EVENT_TYPES },
    },
    paused: {
      type: 'boolean',
      description: 'Nothing is sent; events that happen meanwhile are not sent later.',
      default: false,
    },
  },
}
