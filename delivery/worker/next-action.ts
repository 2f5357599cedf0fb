/** Decides what to do next with a job that was read from the log: send it, wait, hold, end or drop it. */

import {
  destinationKey,
  findDestination,
  type Catalog,
  type CatalogSecrets,
  type Destination,
} from '../../domain/catalog.ts'
import { isBeyondDedupe, isVerdictOverdue, type NextStep } from '../../domain/delivery/attempts.ts'
import { hasCredentials } from '../../domain/providers/credentials.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import type { DeliveryReason } from '../../domain/reasons.ts'
import type { Job } from '../../domain/records.ts'
import { lookAgainAtMs, type CatalogWaits } from '../catalog-waits.ts'
import { setupOf, type DestinationGate } from './destination-gate.ts'
import type { DestinationContext, Provider, ProviderPacing } from '../providers/provider.ts'
import { attemptKey, type SettledJobs } from '../recovery/settled-jobs.ts'

/** The destination as it is configured now, and its credentials. */
export interface DeliveryTarget {
  readonly destination: Destination
  readonly secrets: Readonly<Record<string, string>>
}

export type NextAction =
  | { readonly kind: 'drop' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** `untilMs`: Unix ms; if absent, the job is checked again after a growing pause. */
  | { readonly kind: 'hold'; readonly reason: DeliveryReason; readonly untilMs?: number }
  | { readonly kind: 'end'; readonly status: 'skipped' | 'expired'; readonly reason: DeliveryReason }
  /** Ends it by what its earlier attempts came to: nothing more is sent. */
  | { readonly kind: 'settle'; readonly step: Extract<NextStep, { kind: 'done' | 'failed' }> }
  /** `isTrusted`: nothing failed there recently, so the batch may wait for the answer. */
  | { readonly kind: 'send'; readonly target: DeliveryTarget; readonly isTrusted: boolean }

interface NextActionDeps {
  readonly provider: Provider
  readonly catalog: { readonly current: () => Catalog } & CatalogSecrets
  readonly waits: CatalogWaits
  readonly gate: DestinationGate
  readonly settledJobs: SettledJobs
  /** Attempts in flight, by `attemptKey`. */
  readonly inFlight: ReadonlyMap<string, unknown>
}

/** The shortest wait, if another process has the job, its destination is busy, or this is its own backup copy. */
export const BUSY_MS = 5_000

const COUNTS_AS_DELIVERED: NextAction = { kind: 'settle', step: { kind: 'done' } }

export function nextActionFor(deps: NextActionDeps, job: Job, nowMs: number): NextAction {
  if (deps.settledJobs.has(job)) return { kind: 'drop' }
  if (deps.inFlight.has(attemptKey(job))) return { kind: 'wait', untilMs: nowMs + BUSY_MS }
  if (job.accepted !== undefined) return actionForAccepted(deps, job, nowMs)
  if (job.deadlineAtMs <= nowMs) return { kind: 'end', status: 'expired', reason: 'deadline_passed' }
  if (job.dueAtMs > nowMs) return { kind: 'wait', untilMs: job.dueAtMs }
  const destination = findDestination(deps.catalog.current(), job)
  if (destination === null) return actionWithoutDestination(deps, job, nowMs)
  // It may have been held since its last attempt.
  if (isBeyondDedupe(job, nowMs, PROVIDER_DESCRIPTORS[job.provider].dedupeMs))
    return { kind: 'settle', step: { kind: 'failed', reason: 'unclear_too_long' } }
  return actionAtDestination(deps, { job, destination }, nowMs)
}

/**
 * A job that the provider has accepted arrived in time, however long its verdict takes. It counts, so nothing that happens to its destination
 * can skip it: if the provider cannot be polled any more, it counts as delivered, as it does without a verdict.
 */
function actionForAccepted(deps: NextActionDeps, job: Job, nowMs: number): NextAction {
  if (job.dueAtMs > nowMs) return { kind: 'wait', untilMs: job.dueAtMs }
  const destination = findDestination(deps.catalog.current(), job)
  if (destination === null && !deps.waits.isBehind(job.catalogNumber)) return COUNTS_AS_DELIVERED
  const action =
    destination === null
      ? actionWithoutDestination(deps, job, nowMs)
      : actionAtDestination(deps, { job, destination }, nowMs)
  return action.kind === 'hold' && isVerdictOverdue(job, nowMs) ? COUNTS_AS_DELIVERED : action
}

/** It is gone only if this process's catalog is at least as new as the one that planned the job. */
function actionWithoutDestination({ waits }: NextActionDeps, { catalogNumber }: Job, nowMs: number): NextAction {
  if (!waits.isBehind(catalogNumber)) return { kind: 'end', status: 'skipped', reason: 'destination_removed' }
  const untilMs = lookAgainAtMs(nowMs, waits.waitFor(catalogNumber))
  return { kind: 'hold', reason: 'catalog_behind', untilMs }
}

function actionAtDestination(
  deps: NextActionDeps,
  { job, destination }: { job: Job; destination: Destination },
  nowMs: number,
): NextAction {
  if (destination.mode === 'Paused') return { kind: 'hold', reason: 'destination_on_hold' }
  const key = destinationKey(job, job.destination)
  const secrets = deps.catalog.credentials().get(key) ?? {}
  if (!hasCredentials(deps.provider.id, secrets)) return { kind: 'hold', reason: 'credentials_missing' }
  const notBeforeMs = earliestMs(deps.provider, job, contextOf({ destination, secrets }))
  if (notBeforeMs > nowMs) return { kind: 'hold', reason: 'click_too_fresh', untilMs: notBeforeMs }
  const admission = deps.gate.admit(key, setupOf(destination, secrets), nowMs)
  if (admission.kind === 'hold') return admission
  return { kind: 'send', target: { destination, secrets }, isTrusted: admission.isTrusted }
}

/** Unix ms before which the provider refuses the job. An unreadable job is not held: building its request fails, which ends it. */
function earliestMs(provider: ProviderPacing, job: Job, context: DestinationContext): number {
  try {
    return job.accepted === undefined ? (provider.notBeforeMs?.(job, context) ?? 0) : 0
  } catch {
    return 0
  }
}

/** What a provider's functions may know about a target. */
export function contextOf(target: DeliveryTarget): DestinationContext {
  return {
    settings: target.destination.settings,
    secrets: target.secrets,
    isValidateOnly: target.destination.mode === 'Validate',
    reconstructionWindowHours: target.destination.reconstructionWindowHours,
  }
}
