/** Records what becomes of a job for a webhook: the job's next entry on the log, then what is shown of it. */

import { holdMs, JITTER, nextStep, tierFor, type AttemptResult, type NextStep } from '../../domain/delivery/attempts.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import type { WebhookJob } from '../../domain/records.ts'
import { webhookAttempt, webhookEntry } from '../../domain/webhooks/jobs.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import { appendUntilStopped } from '../sure-appends.ts'
import type { WebhookNews } from './news.ts'
import type { WebhookRecipient } from './recipient.ts'

interface JournalParts {
  readonly eventLog: LogWriter
  readonly news: WebhookNews
  readonly nowMs: () => number
  /** In [0, 1). */
  readonly random: () => number
  /** Aborted when the process stops. */
  readonly signal: AbortSignal
}

/** What is shown of an attempt. */
interface ShownAttempt {
  readonly startedAtMs: number
  readonly durationMs: number
  readonly status: number
  readonly error: string
  readonly answer: string
}

/** `target`: null if this process does not know the webhook. */
interface AddressedJob {
  readonly job: WebhookJob
  readonly target: WebhookRecipient | null
}

/** Everything resolves once it is on the log, and rejects only if the process stops before. */
export interface WebhookJournal {
  /** Puts the job into the tier that fits its due time. */
  readonly wait: (job: WebhookJob) => Promise<void>
  /** Waits about as long as the job has already waited, but never beyond its deadline. */
  readonly hold: (job: WebhookJob) => Promise<void>
  /** A job that found no place waits until one is expected to be free, but not too close to its deadline. */
  readonly postpone: (job: WebhookJob, freeAtMs: number) => Promise<void>
  /** Records an attempt and what follows from it; `job` is as it was before. */
  readonly attempted: (addressed: AddressedJob, result: AttemptResult, shown: ShownAttempt) => Promise<void>
  /** The job's deadline has passed. */
  readonly expire: (addressed: AddressedJob) => Promise<void>
}

/** Some ms pass between the decision to wait 30 s and the choice of a tier; they must not select a shorter tier. */
const DECIDED_AGO_MS = 1_000
/** A postponed job is tried this long before its deadline at the latest. */
const LAST_CALL_MS = MINUTE_MS
const STATE_AFTER = { done: 'delivered', retry: 'retrying', expired: 'expired', failed: 'failed' } as const

export function createWebhookJournal(parts: JournalParts): WebhookJournal {
  const { news, nowMs, random } = parts

  const wait = (job: WebhookJob): Promise<void> => {
    const tier = tierFor(job.dueAtMs - nowMs() + DECIDED_AGO_MS)
    return appendUntilStopped(parts, `webhooks.${tier}`, webhookEntry(job))
  }

  /** A test is attempted once: the person waiting for it wants to see the result. */
  const stepAfter = (tried: WebhookJob, result: AttemptResult): NextStep => {
    if (tried.type === 'test' && result.kind !== 'delivered') return { kind: 'failed', reason: 'attempt_failed' }
    const context = { nowMs: nowMs(), random: random(), dedupeMs: null }
    return nextStep({ ...tried, unclearSinceMs: null }, result, context)
  }

  /** First the job's next entry, then the record that is shown: after a crash in between, the attempt is repeated and nothing is lost. */
  const settle = async ({ job, target }: AddressedJob, step: NextStep, shown: ShownAttempt): Promise<void> => {
    if (step.kind === 'retry') await wait({ ...job, dueAtMs: step.dueAtMs })
    const state = STATE_AFTER[step.kind]
    news.tried(state)
    const nextAttemptAtMs = step.kind === 'retry' ? step.dueAtMs : null
    const record = webhookAttempt(job, { ...shown, state, nextAttemptAtMs })
    await appendUntilStopped(parts, 'webhook_attempts', webhookEntry(record))
    const isLost = (state === 'failed' || state === 'expired') && job.type !== 'test'
    if (isLost && target !== null) await news.tell(target, 'webhook_failing')
  }

  return {
    wait,
    hold(job) {
      const waitMs = Math.round(holdMs(nowMs() - job.happenedAtMs) * (1 + JITTER * random()))
      return wait({ ...job, dueAtMs: Math.min(nowMs() + waitMs, job.deadlineAtMs) })
    },
    postpone(job, freeAtMs) {
      const latestMs = Math.max(job.deadlineAtMs - LAST_CALL_MS, nowMs())
      return wait({ ...job, dueAtMs: Math.min(freeAtMs, latestMs) })
    },
    attempted({ job, target }, result, shown) {
      const tried: WebhookJob = { ...job, attempts: job.attempts + 1 }
      return settle({ job: tried, target }, stepAfter(tried, result), shown)
    },
    expire({ job, target }) {
      const shown = { startedAtMs: nowMs(), durationMs: 0, status: 0, error: 'deadline_passed', answer: '' }
      const step = { kind: 'expired', reason: 'deadline_passed' } as const
      return settle({ job: { ...job, attempts: job.attempts + 1 }, target }, step, shown)
    },
  }
}
