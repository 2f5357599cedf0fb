/** Updates a destination's circuit breaker after an exchange, and records an activity if that pauses or resumes the destination. */

import { randomBytes } from 'node:crypto'

import { destinationKey } from '../../domain/catalog.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { Job } from '../../domain/records.ts'
import type { Logger } from '../../runtime/logger.ts'
import { setupOf, type DestinationGate } from './destination-gate.ts'
import type { JobJournal } from './job-journal.ts'
import type { Verdict } from '../providers/provider.ts'
import type { DeliveryTarget } from './next-action.ts'
import { timeOrderedId } from '../../runtime/random.ts'

export interface HealthParts {
  readonly gate: DestinationGate
  readonly journal: JobJournal
  readonly logger: Logger
  readonly nowMs: () => number
}

/** `job` is any job that the exchange carried; it names the destination. */
export async function recordOutcome(
  deps: HealthParts,
  job: Job,
  result: { outcome: Verdict; target: DeliveryTarget },
): Promise<void> {
  const key = destinationKey(job, job.destination)
  const nowMs = deps.nowMs()
  if (result.outcome.kind === 'credentials') {
    const setup = setupOf(result.target.destination, result.target.secrets)
    const isNew = deps.gate.pause(key, { reason: 'credentials_refused', setup }, nowMs)
    if (isNew)
      await recordActivity(
        deps,
        job,
        'destination_paused',
        `The provider refuses its credentials (${result.outcome.code}).`,
      )
    return
  }
  if (result.outcome.kind === 'retry' || result.outcome.kind === 'throttled') {
    const hasOpened = deps.gate.failed(key, nowMs)
    if (hasOpened) deps.logger.warn({ destination: key, code: result.outcome.code }, 'breaker opened')
    return
  }
  const hasResumed = deps.gate.succeeded(key, nowMs)
  if (hasResumed) await recordActivity(deps, job, 'destination_resumed', 'The provider accepts its credentials again.')
}

/** The outcome that counts for the destination if an exchange ended differently for several deliveries. */
export function worstOf(outcomes: readonly Verdict[]): Verdict | undefined {
  return (
    outcomes.find(({ kind }) => kind === 'credentials') ??
    outcomes.find(({ kind }) => kind !== 'retry' && kind !== 'throttled') ??
    outcomes[0]
  )
}

async function recordActivity(deps: HealthParts, job: Job, type: ActivityType, message: string): Promise<void> {
  const nowMs = deps.nowMs()
  deps.logger.warn({ destination: destinationKey(job, job.destination), type }, 'destination changed state')
  await deps.journal.activity({
    v: 1,
    kind: 'activity',
    id: timeOrderedId({ hex: (count) => randomBytes(count).toString('hex') }, nowMs),
    atMs: nowMs,
    organization: job.organization,
    website: job.website,
    type,
    subject: job.destination,
    message,
    catalogNumber: job.catalogNumber,
    logRetentionDays: job.logRetentionDays,
  })
}
