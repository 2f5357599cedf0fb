/** Tells a destination's gate how an exchange ended, and the organisation's people where that pauses or resumes it. */

import { randomBytes } from 'node:crypto'

import { destinationKey } from '../../domain/catalog.ts'
import type { Job } from '../../domain/records.ts'
import type { Logger } from '../../runtime/logger.ts'
import { setupOf, type DestinationGate } from './destination-gate.ts'
import type { JobJournal } from './job-journal.ts'
import type { Verdict } from '../providers/provider.ts'
import type { Goal } from './way.ts'

export interface GateNewsDeps {
  readonly gate: DestinationGate
  readonly journal: Pick<JobJournal, 'activity'>
  readonly logger: Pick<Logger, 'warn'>
  readonly nowMs: () => number
}

/** `job` is any of those that the exchange was about; it names whose destination it was. */
export async function tellGate(deps: GateNewsDeps, job: Job, end: { outcome: Verdict; goal: Goal }): Promise<void> {
  const key = destinationKey(job.website, job.destination)
  const nowMs = deps.nowMs()
  if (end.outcome.kind === 'credentials') {
    const setup = setupOf(end.goal.destination, end.goal.secrets)
    const isNew = deps.gate.pause(key, { reason: 'credentials_refused', setup }, nowMs)
    if (isNew)
      await announce(deps, job, 'destination_paused', `The provider refuses its credentials (${end.outcome.code}).`)
    return
  }
  if (end.outcome.kind === 'retry' || end.outcome.kind === 'throttled') {
    const hasOpened = deps.gate.failed(key, nowMs)
    if (hasOpened) deps.logger.warn({ destination: key, code: end.outcome.code }, 'breaker opened')
    return
  }
  const hasResumed = deps.gate.succeeded(key, nowMs)
  if (hasResumed) await announce(deps, job, 'destination_resumed', 'The provider accepts its credentials again.')
}

/** What one exchange says of its destination, where it ended differently for several deliveries: the worst of it. */
export function gravestOf(outcomes: readonly Verdict[]): Verdict | undefined {
  return (
    outcomes.find(({ kind }) => kind === 'credentials') ??
    outcomes.find(({ kind }) => kind !== 'retry' && kind !== 'throttled') ??
    outcomes[0]
  )
}

async function announce(deps: GateNewsDeps, job: Job, type: string, message: string): Promise<void> {
  const nowMs = deps.nowMs()
  deps.logger.warn({ destination: destinationKey(job.website, job.destination), type }, 'destination changed state')
  await deps.journal.activity({
    v: 1,
    kind: 'activity',
    id: nowMs.toString(16).padStart(12, '0') + randomBytes(8).toString('hex'),
    atMs: nowMs,
    organization: job.organization,
    website: job.website,
    type,
    subject: job.destination,
    message,
    logRetentionDays: job.logRetentionDays,
  })
}
