/** The webhooks that this process can send to, as they are configured now. */

import { webhookKey, type Catalog, type Credentials, type Organization, type Webhook } from '../../domain/catalog.ts'
import { secretsAt } from '../streams/signature.ts'
import type { WebhookJob } from '../../domain/records.ts'

export interface WebhookRecipient {
  readonly webhook: Webhook
  readonly organization: Pick<Organization, 'id' | 'logRetentionDays'>
  /** The secrets that sign now, the current one first; empty if they are missing. */
  readonly secrets: readonly string[]
}

interface RecipientSource {
  readonly catalog: () => Pick<Catalog, 'organizations'>
  readonly credentials: () => Credentials
  readonly nowMs: () => number
}

/** Null if the webhook no longer exists. */
export function recipientOf(
  { catalog, credentials, nowMs }: RecipientSource,
  job: Pick<WebhookJob, 'organization' | 'webhook'>,
): WebhookRecipient | null {
  const organization = catalog().organizations.get(job.organization)
  const webhook = organization?.webhooks.find(({ id }) => id === job.webhook)
  if (organization === undefined || webhook === undefined) return null
  const { secret, previous = null } = credentials().get(webhookKey(webhook)) ?? {}
  if (secret === undefined) return { webhook, organization, secrets: [] }
  const keys = { secret, previous, previousUntilMs: webhook.previousSecretUntilMs }
  return { webhook, organization, secrets: secretsAt(keys, nowMs()) }
}
