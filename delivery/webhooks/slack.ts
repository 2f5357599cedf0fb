/** What webhooks of the format Slack do otherwise: messages instead of events, one for all installs of an hour, and each once. */

import { randomUUID } from 'node:crypto'

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { WebhookJob } from '../../domain/records.ts'
import { SLACK_ORIGIN, slackTarget } from '../../domain/webhooks/slack-address.ts'
import { hourOfJob } from '../../domain/webhooks/slack-hour.ts'
import { slackHour, slackMessage } from '../../domain/webhooks/slack-message.ts'
import type { WebhookPayload } from '../../domain/webhooks/payloads.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'

export interface Slack {
  /** What is posted. Rejects like the facts, of which the message about an hour is made. */
  readonly bodyOf: (job: WebhookJob) => Promise<string>
  /** Where an address is called; empty if it is none of Slack. */
  readonly targetOf: (address: string) => string
  /** What stands in for Slack and is called without being vetted, as the operator named it; absent: Slack itself is called. */
  readonly standIn?: string
  /**
   * Each install gives a job about its hour. `taken`: another one was sent. `later`: another one is being sent, or that cannot be known now. A job
   * about one event is always `mine`.
   */
  readonly begin: (job: WebhookJob) => Promise<'mine' | 'taken' | 'later'>
  /** Of one that is `mine`. Never rejects: then it may come twice. */
  readonly end: (job: WebhookJob, isTaken: boolean) => Promise<void>
}

interface SlackParts {
  readonly facts: FactsReader
  readonly hotState: JobVerbs
  /** That is called. */
  readonly origin: string
}

/** Longer than any job about an hour is tried. */
const REMEMBERED_MS = LIMITS.webhookTryMs + DAY_MS
/** Longer than a call takes. */
const SENDING_MS = 2 * LIMITS.webhookMs

export function createSlack({ facts, hotState, origin }: SlackParts): Slack {
  const owner = randomUUID()
  /** What this process is sending: to the hot state it is one owner. */
  const sending = new Set<string>()
  const takenOf = ({ messageId }: WebhookJob): string => `slack-taken/${messageId}`
  const sendingOf = ({ messageId }: WebhookJob): string => `slack-sending/${messageId}`
  const letGo = (job: WebhookJob): 'later' => {
    sending.delete(job.messageId)
    return 'later'
  }
  return {
    targetOf: (address) => slackTarget(address, origin) ?? '',
    ...(origin === SLACK_ORIGIN ? {} : { standIn: origin }),
    async bodyOf(job) {
      const since = hourOfJob(job)
      if (since === null) return JSON.stringify(slackMessage(payloadOf(job)))
      const { organization } = job
      const rows = await facts.run('installEventsOfHour', { organization, since_ms: since, until_ms: since + HOUR_MS })
      return JSON.stringify(slackHour({ sinceMs: since, rows }))
    },
    async begin(job) {
      if (hourOfJob(job) === null) return 'mine'
      if (sending.has(job.messageId)) return 'later'
      sending.add(job.messageId)
      try {
        if (!(await hotState.claimJob(sendingOf(job), owner, SENDING_MS))) return letGo(job)
        // Only whoever sends looks, so that a claim says that it was taken.
        if (!(await hotState.claimJob(takenOf(job), owner, SENDING_MS))) return 'taken'
        await hotState.releaseJob(takenOf(job), owner)
        return 'mine'
      } catch {
        return letGo(job)
      }
    },
    async end(job, isTaken) {
      if (hourOfJob(job) === null) return
      if (isTaken) await hotState.claimJob(takenOf(job), job.messageId, REMEMBERED_MS).catch(() => false)
      await hotState.releaseJob(sendingOf(job), owner).catch(() => undefined)
      sending.delete(job.messageId)
    },
  }
}

/** As this service wrote it. */
function payloadOf({ body }: WebhookJob): WebhookPayload {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the body of a job is a payload
  return JSON.parse(body) as WebhookPayload
}

/** It will not take this message at any time: the message is wrong, or the channel or the webhook is gone. */
export function isRefusedBySlack(status: number): boolean {
  return status === 400 || status === 403 || status === 404 || status === 410
}
