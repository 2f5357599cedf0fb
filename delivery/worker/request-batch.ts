/** Groups jobs into the batches that one request can carry: jobs of one destination, or jobs that wait for the same verdict. */

import { destinationKey } from '../../domain/catalog.ts'
import type { Job } from '../../domain/records.ts'
import type { ProviderPacing } from '../providers/provider.ts'
import { contextOf, type DeliveryTarget, type NextAction } from './next-action.ts'
import { Quotas } from './quota.ts'
import { BoundedMap } from '../../common/bounded-map.ts'

/** Never empty; every job goes to the same destination, as it is configured now. */
export interface RequestBatch {
  readonly jobs: readonly Job[]
  readonly key: string
  readonly organization: string
  readonly target: DeliveryTarget
  readonly isTrusted: boolean
}

export interface ReadyJob {
  readonly job: Job
  readonly action: Extract<NextAction, { kind: 'send' }>
}

interface BatchRules {
  readonly provider: ProviderPacing
  /** The most jobs that one request to this destination may carry at present. */
  readonly maxJobs: (key: string) => number
  readonly nowMs: number
}

/** A job this close to its deadline is sent alone: once expired, it would fail the whole batch. */
const NEAR_DEADLINE_MS = 60_000

/**
 * In the order of the jobs, with organisations taking turns: a long queue of one organisation does not delay the first batch of another.
 * @internal
 */
export function requestBatches(jobs: readonly ReadyJob[], rules: BatchRules): RequestBatch[] {
  const open = new Map<string, ReadyJob[]>()
  const groups: { readonly key: string; readonly jobs: ReadyJob[] }[] = []
  for (const ready of jobs) {
    const key = destinationKey(ready.job, ready.job.destination)
    const group = batchKey(ready, rules)
    const current = group === null ? undefined : open.get(`${key}\n${group}`)
    if (current !== undefined && current.length < maxBatchJobs(ready, key, rules)) {
      current.push(ready)
      continue
    }
    const fresh = [ready]
    groups.push({ key, jobs: fresh })
    if (group !== null) open.set(`${key}\n${group}`, fresh)
  }
  return interleaveByOrganization(groups.flatMap((group) => batchOf(group.key, group.jobs)))
}

/** Jobs with the same key share a request. Null if the job must be sent alone. */
function batchKey({ job, action: way }: ReadyJob, { provider, nowMs }: BatchRules): string | null {
  const trust = way.isTrusted ? 'trusted' : 'tried'
  if (job.accepted !== undefined) return provider.verdict === undefined ? null : `${trust} ${job.accepted.reference}`
  // A validation reports on one delivery; in a batch the first fault would hide the others.
  const mayJoin = provider.batch !== undefined && way.target.destination.mode === 'Live'
  return mayJoin && job.deadlineAtMs - nowMs > NEAR_DEADLINE_MS ? trust : null
}

/** A request for a verdict is the same however many jobs wait for the answer. */
function maxBatchJobs({ job }: ReadyJob, key: string, { provider, maxJobs: mostJobs }: BatchRules): number {
  if (job.accepted !== undefined) return Number.POSITIVE_INFINITY
  return Math.min(provider.batch?.maxJobs ?? 1, mostJobs(key))
}

function batchOf(key: string, ready: readonly ReadyJob[]): RequestBatch[] {
  const first = ready[0]
  if (first === undefined) return []
  const { target: goal, isTrusted } = first.action
  return [{ jobs: ready.map(({ job }) => job), key, organization: first.job.organization, target: goal, isTrusted }]
}

function interleaveByOrganization(batches: readonly RequestBatch[]): RequestBatch[] {
  const turns = new Map<string, number>()
  const placed = batches.map((batch) => {
    const turn = turns.get(batch.organization) ?? 0
    turns.set(batch.organization, turn + 1)
    return { batch, turn }
  })
  return placed.sort((a, b) => a.turn - b.turn).map(({ batch }) => batch)
}

/** Destinations whose size is remembered; the one that changed longest ago is forgotten first. */
const REMEMBERED = 10_000

/**
 * The batch size per destination: halved after a request was refused as a whole, doubled after a full one was accepted. A
 * destination that refuses many jobs thus does not cause every batch to be sent again at every size.
 * @internal
 */
export class BatchSizes {
  readonly #sizes = new BoundedMap<string, number>(REMEMBERED)

  most(key: string): number {
    return this.#sizes.get(key) ?? Number.POSITIVE_INFINITY
  }

  refused(key: string, jobs: number): void {
    this.#sizes.set(key, Math.max(1, Math.ceil(jobs / 2)))
  }

  /** `jobs`: how many one request carried; only a full one shows that more would be accepted. */
  taken(key: string, jobs: number): void {
    const size = this.#sizes.get(key)
    if (size === undefined || jobs < size) return
    if (size * 2 > MAX_REMEMBERED_SIZE) this.#sizes.delete(key)
    else this.#sizes.set(key, size * 2)
  }
}

/** Above it, the provider's own limit or the size of a batch from the log applies anyway. */
const MAX_REMEMBERED_SIZE = 512

/** How much requests to the destinations of one provider may carry at present. */
export class RequestRoom {
  readonly sizes = new BatchSizes()
  readonly quotas: Quotas
  readonly #provider: ProviderPacing

  constructor(provider: ProviderPacing) {
    this.#provider = provider
    this.quotas = new Quotas(provider.quotas)
  }

  batches(ready: readonly ReadyJob[], nowMs: number): RequestBatch[] {
    return requestBatches(ready, { provider: this.#provider, maxJobs: (key) => this.sizes.most(key), nowMs })
  }

  /** Null if the provider's quotas allow the batch, which then counts towards them; otherwise when they will, in Unix ms. */
  takeQuota({ jobs, target }: RequestBatch, nowMs: number): number | null {
    if (jobs[0]?.accepted !== undefined) return null
    return this.quotas.take(contextOf(target), { requests: 1, deliveries: jobs.length }, nowMs)
  }
}
