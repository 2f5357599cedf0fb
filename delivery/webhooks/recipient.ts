/** The webhooks that this process can send to, as they are configured now. */

import { webhookKey, type CatalogOrganizations, type CatalogSecrets, type Webhook } from '../../domain/catalog.ts'
import type { WebhookJob } from '../../domain/records.ts'
import { lookAgainAtMs, type CatalogWaits } from '../catalog-waits.ts'
import { secretsAt } from '../streams/signature.ts'

export interface WebhookRecipient {
  readonly webhook: Webhook
  readonly organization: { readonly id: string; readonly logRetentionDays: number }
  /** Where it is called; empty if that is a secret which is missing. */
  readonly url: string
  /** The secrets that sign now, the current one first; with the format Slack the address alone. Empty if they are missing. */
  readonly secrets: readonly string[]
}

export interface WebhookRecipients {
  /** Null if the webhook does not exist here. */
  readonly of: (job: WebhookJob) => WebhookRecipient | null
  /**
   * Whether a webhook that this process does not know was deleted, which is certain only if the catalog here is at least as new as the job. A
   * test is asked for by somebody who sees the webhook.
   */
  readonly isGone: (job: WebhookJob) => boolean
  /** Notes that the job waits for its webhook. Returns when to look again, in Unix ms. */
  readonly lookAgainAtMs: (job: WebhookJob) => number
}

interface RecipientSource {
  readonly catalog: { readonly current: () => CatalogOrganizations } & CatalogSecrets
  readonly waits: CatalogWaits
  readonly nowMs: () => number
}

export function createRecipients({ catalog, waits, nowMs }: RecipientSource): WebhookRecipients {
  return {
    of(job) {
      const organization = catalog.current().organizations.get(job.organization)
      const webhook = organization?.webhooks.find(({ id }) => id === job.webhook)
      if (organization === undefined || webhook === undefined) return null
      const { secret, previous = null, url = '' } = catalog.credentials().get(webhookKey(webhook)) ?? {}
      if (webhook.format === 'Slack') return { webhook, organization, url, secrets: url === '' ? [] : [url] }
      if (secret === undefined) return { webhook, organization, url: webhook.url, secrets: [] }
      const keys = { secret, previous, previousUntilMs: webhook.previousSecretUntilMs }
      return { webhook, organization, url: webhook.url, secrets: secretsAt(keys, nowMs()) }
    },
    isGone: (job) => !waits.isBehind(job.catalogNumber) && job.type !== 'test',
    lookAgainAtMs: (job) => lookAgainAtMs(nowMs(), waits.waitFor(job.catalogNumber)),
  }
}
