/** The spec of a Webhook. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { WEBHOOK_EVENT_TYPES, WEBHOOK_FORMATS, type WebhookEventType, type WebhookFormat } from '../model.ts'
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
  readonly format: WebhookFormat
  /** Only of the format `Standard`, with the secret. */
  readonly url?: string
  readonly secretRef?: KeyRef
  /** Only of the format `Slack`. */
  readonly urlSecretRef?: KeyRef
  readonly events: readonly WebhookEventType[]
  readonly paused: boolean
}

export const WEBHOOK_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'Sends events of the organisation to an address of yours.',
  required: ['organizationRef', 'events'],
  properties: {
    organizationRef: resourceRef('The Organization this belongs to.', "the organisation's `allowedNamespaces`"),
    displayName,
    format: {
      type: 'string',
      description: '`Standard`: signed, to an address of yours. `Slack`: as messages in a channel (docs/slack.md).',
      enum: WEBHOOK_FORMATS,
      default: 'Standard',
    },
    url: address('outbound', 'The address that events are posted to; only with the format Standard.'),
    secretRef: keyRef(
      'Key of a Secret that signs what is posted: `whsec_` and 24 to 64 bytes in base64; only with the format Standard.',
    ),
    urlSecretRef: keyRef(
      'Key of a Secret with the address of an incoming webhook of Slack; only with the format Slack.',
    ),
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

const OF_STANDARD = ['url', 'secretRef'] as const
const OF_SLACK = ['urlSecretRef'] as const
const NOT_OF_SLACK = [...OF_STANDARD, 'previousSecretRef', 'previousSecretUntil'] as const

export const WEBHOOK_RULES = [
  {
    rule: `self.format != 'Standard' || (${OF_STANDARD.map((field) => `has(self.${field})`).join(' && ')} && !has(self.urlSecretRef))`,
    message: formProblemOf('Standard'),
  },
  {
    rule: `self.format != 'Slack' || (has(self.urlSecretRef) && ${NOT_OF_SLACK.map((field) => `!has(self.${field})`).join(' && ')})`,
    message: formProblemOf('Slack'),
  },
] as const

/** The first field that is missing for the format of the webhook, or too many; null if its form is right. */
export function wrongFieldOf(spec: WebhookSpec): string | null {
  const [needed, excluded] = spec.format === 'Slack' ? [OF_SLACK, NOT_OF_SLACK] : [OF_STANDARD, OF_SLACK]
  const missing = needed.find((field) => spec[field] === undefined)
  return missing ?? excluded.find((field) => spec[field] !== undefined) ?? null
}

export function formProblemOf(format: WebhookFormat): string {
  return format === 'Slack'
    ? 'with the format Slack a webhook must have urlSecretRef, and neither url nor a secret'
    : 'with the format Standard a webhook must have url and secretRef, and no urlSecretRef'
}
