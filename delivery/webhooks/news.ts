/** What the role `webhooks` reports: activity of the organisation, at most hourly for each webhook, and metrics. */

import { Counter, type Registry } from 'prom-client'

import type { WebhookJob, WebhookState } from '../../domain/records.ts'
import { createHourlyNews, type HourlyNewsParts } from '../hourly-news.ts'
import type { WebhookRecipient } from './recipient.ts'

const MESSAGES = {
  webhook_failing: 'Events were not accepted and are not tried any more. They can be sent again.',
  webhook_paused:
    'Its receiver answers 410 Gone. One event each quarter of an hour tests it; all others wait for three days.',
} as const

export interface WebhookNews {
  /** Never rejects. */
  readonly tell: (target: WebhookRecipient, type: keyof typeof MESSAGES) => Promise<void>
  readonly noticed: (job: WebhookJob) => void
  readonly tried: (state: WebhookState) => void
  /** A job whose webhook is gone. */
  readonly dropped: () => void
}

export function createWebhookNews(parts: HourlyNewsParts): WebhookNews {
  const tellHourly = createHourlyNews(parts)
  const metrics = createWebhookMetrics(parts.telemetry.registry)
  return {
    tell: ({ webhook, organization }, type) =>
      tellHourly({ organization, type, subject: `Webhook/${webhook.id}`, message: MESSAGES[type] }),
    noticed: ({ type }) => metrics?.events.inc({ type }),
    tried: (state) => metrics?.attempts.inc({ state }),
    dropped: () => metrics?.attempts.inc({ state: 'dropped' }),
  }
}

function createWebhookMetrics(registry: Registry | undefined) {
  if (registry === undefined) return null
  const registers = [registry]
  const events = new Counter({
    name: 'whence_webhook_events_total',
    help: 'Events to send, one for each webhook that wants them, by type.',
    labelNames: ['type'],
    registers,
  })
  const attempts = new Counter({
    name: 'whence_webhook_attempts_total',
    help: 'Attempts to send an event to a webhook, by outcome; dropped: the webhook was deleted.',
    labelNames: ['state'],
    registers,
  })
  return { events, attempts }
}
