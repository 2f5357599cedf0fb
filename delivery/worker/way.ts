/** Decides at a glance what is to be done with a job that came off the log: go, wait, hold, end or drop it. */

import { destinationKey, type Catalog, type Credentials, type Destination } from '../../domain/catalog.ts'
import type { DeliveryReason } from '../../domain/delivery/deliveries.ts'
import type { Job } from '../../domain/records.ts'
import { setupOf, type DestinationGate } from './destination-gate.ts'
import type { DestinationContext, Provider } from '../providers/provider.ts'
import { attemptKey, type SettledJobs } from '../recovery/settled-jobs.ts'

/** Where a job goes: the destination as it is configured now, and its credentials. */
export interface Goal {
  readonly destination: Destination
  readonly secrets: Readonly<Record<string, string>>
}

export type Way =
  | { readonly kind: 'drop' }
  | { readonly kind: 'wait'; readonly untilMs: number }
  /** `untilMs`: until that moment; without it, until another look. */
  | { readonly kind: 'hold'; readonly reason: DeliveryReason; readonly untilMs?: number }
  | { readonly kind: 'end'; readonly status: 'skipped' | 'expired'; readonly reason: DeliveryReason }
  /** `isTrusted`: nothing failed there lately, so a batch may wait for the answer. */
  | { readonly kind: 'go'; readonly goal: Goal; readonly isTrusted: boolean }

export interface WayDeps {
  readonly provider: Provider
  readonly catalog: () => Catalog
  readonly credentials: () => Credentials
  readonly gate: DestinationGate
  readonly settledJobs: SettledJobs
  /** Attempts under way, by `attemptKey`. */
  readonly underWay: ReadonlyMap<string, unknown>
}

/** Another process has the job, its destination is busy, or this is its own copy: look again after the shortest wait. */
export const BUSY_MS = 5_000

export function wayOf(deps: WayDeps, job: Job, nowMs: number): Way {
  if (deps.settledJobs.has(job)) return { kind: 'drop' }
  if (deps.underWay.has(attemptKey(job))) return { kind: 'wait', untilMs: nowMs + BUSY_MS }
  // What was taken arrived in time, however long its verdict takes.
  if (job.deadlineAtMs <= nowMs && job.accepted === undefined)
    return { kind: 'end', status: 'expired', reason: 'deadline_passed' }
  if (job.dueAtMs > nowMs) return { kind: 'wait', untilMs: job.dueAtMs }
  const destination = destinationOf(deps, job)
  if (destination === null) return { kind: 'end', status: 'skipped', reason: 'destination_removed' }
  if (destination.mode === 'Paused') return { kind: 'hold', reason: 'destination_on_hold' }
  return wayTo(deps, { job, destination }, nowMs)
}

function wayTo(deps: WayDeps, { job, destination }: { job: Job; destination: Destination }, nowMs: number): Way {
  const key = destinationKey(job.website, job.destination)
  const secrets = deps.credentials().get(key) ?? {}
  if (!isComplete(deps.provider, secrets)) return { kind: 'hold', reason: 'credentials_missing' }
  const notBeforeMs = firstMomentMs(deps.provider, job, contextOf({ destination, secrets }))
  if (notBeforeMs > nowMs) return { kind: 'hold', reason: 'click_too_fresh', untilMs: notBeforeMs }
  const admission = deps.gate.admit(key, setupOf(destination, secrets), nowMs)
  if (admission.kind === 'hold') return admission
  return { kind: 'go', goal: { destination, secrets }, isTrusted: admission.isTrusted }
}

function isComplete(provider: Provider, secrets: Readonly<Record<string, string>>): boolean {
  return provider.isComplete?.(secrets) ?? provider.secretNames.every((name) => (secrets[name] ?? '') !== '')
}

/** A job that cannot be read is not held: building its request tells so, and ends it. */
function firstMomentMs(provider: Provider, job: Job, context: DestinationContext): number {
  try {
    return job.accepted === undefined ? (provider.notBeforeMs?.(job, context) ?? 0) : 0
  } catch {
    return 0
  }
}

/** What a provider's functions may know of a goal. */
export function contextOf(goal: Goal): DestinationContext {
  return {
    settings: goal.destination.settings,
    secrets: goal.secrets,
    isValidateOnly: goal.destination.mode === 'Validate',
    reconstructionWindowHours: goal.destination.reconstructionWindowHours,
  }
}

function destinationOf(deps: WayDeps, job: Job): Destination | null {
  const website = deps.catalog().websites.get(job.website)
  const destination = website?.destinations.find((each) => each.id === job.destination)
  return destination?.provider === job.provider ? destination : null
}
