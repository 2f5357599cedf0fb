/** The webhooks that this process can send to, as they are configured now. */

import { webhookKey, type Credentials, type Webhook, type CatalogOrganizations } from '../../domain/catalog.ts'
import { secretsAt } from '../streams/signature.ts'

export interface WebhookRecipient {
  readonly webhook: Webhook
  readonly organization: { readonly id: string; readonly logRetentionDays: number }
  /** The secrets that sign now, the current one first; empty if they are missing. */
  readonly secrets: readonly string[]
}

interface RecipientSource {
  readonly catalog: () => CatalogOrganizations
  readonly credentials: () => Credentials
  readonly nowMs: () => number
}

/** Null if the webhook no longer exists. */
export function recipientOf(
  { catalog, credentials, nowMs }: RecipientSource,
  job: { readonly organization: string; readonly webhook: string },
): WebhookRecipient | null {
  const organization = catalog().organizations.get(job.organization)
  const webhook = organization?.webhooks.find(({ id }) => id === job.webhook)
  if (organization === undefined || webhook === undefined) return null
  const { secret, previous = null } = credentials().get(webhookKey(webhook)) ?? {}
  if (secret === undefined) return { webhook, organization, secrets: [] }
  const keys = { secret, previous, previousUntilMs: webhook.previousSecretUntilMs }
  return { webhook, organization, secrets: secretsAt(keys, nowMs()) }
}
