/** Puts together what one request can carry: jobs of one destination, or jobs that wait for one and the same verdict. */

import { destinationKey } from '../../domain/catalog.ts'
import type { Job } from '../../domain/records.ts'
import type { Provider } from '../providers/provider.ts'
import type { Goal, Way } from './way.ts'

/** Never empty; every job goes to the same destination, as it is configured now. */
export interface Parcel {
  readonly jobs: readonly Job[]
  readonly key: string
  readonly organization: string
  readonly goal: Goal
  readonly isTrusted: boolean
}

export interface Going {
  readonly job: Job
  readonly way: Extract<Way, { kind: 'go' }>
}

export interface ParcelRules {
  readonly provider: Provider
  /** The most jobs in one request to this destination for now. */
  readonly mostJobs: (key: string) => number
  readonly nowMs: number
}

/** What ends so soon goes by itself: by the time it is judged it may be too old, and would refuse what goes with it. */
const LAST_MINUTE_MS = 60_000

/** In the order of the jobs, with organisations taking turns, so that a long queue of one delays no other's first. */
export function parcelsOf(goings: readonly Going[], rules: ParcelRules): Parcel[] {
  const open = new Map<string, Going[]>()
  const groups: { readonly key: string; readonly goings: Going[] }[] = []
  for (const going of goings) {
    const key = destinationKey(going.job.website, going.job.destination)
    const group = togetherKey(going, rules)
    const current = group === null ? undefined : open.get(`${key}\n${group}`)
    if (current !== undefined && current.length < mostTogether(going, key, rules)) {
      current.push(going)
      continue
    }
    const fresh = [going]
    groups.push({ key, goings: fresh })
    if (group !== null) open.set(`${key}\n${group}`, fresh)
  }
  return inTurns(groups.flatMap(({ key, goings: some }) => parcelOf(key, some)))
}

/** Null where the job goes by itself. */
function togetherKey({ job, way }: Going, { provider, nowMs }: ParcelRules): string | null {
  const trust = way.isTrusted ? 'trusted' : 'tried'
  if (job.accepted !== undefined) return provider.verdict === undefined ? null : `${trust} ${job.accepted.reference}`
  // A validation tells what is wrong with one delivery; together the first fault would hide the others.
  const mayJoin = provider.batch !== undefined && way.goal.destination.mode === 'Live'
  return mayJoin && job.deadlineAtMs - nowMs > LAST_MINUTE_MS ? trust : null
}

/** A question about a verdict is the same however many wait for the answer. */
function mostTogether({ job }: Going, key: string, { provider, mostJobs }: ParcelRules): number {
  if (job.accepted !== undefined) return Number.POSITIVE_INFINITY
  return Math.min(provider.batch?.maxJobs ?? 1, mostJobs(key))
}

function parcelOf(key: string, goings: readonly Going[]): Parcel[] {
  const first = goings[0]
  if (first === undefined) return []
  const { goal, isTrusted } = first.way
  return [{ jobs: goings.map(({ job }) => job), key, organization: first.job.organization, goal, isTrusted }]
}

function inTurns(parcels: readonly Parcel[]): Parcel[] {
  const turns = new Map<string, number>()
  const placed = parcels.map((parcel) => {
    const turn = turns.get(parcel.organization) ?? 0
    turns.set(parcel.organization, turn + 1)
    return { parcel, turn }
  })
  return placed.sort((a, b) => a.turn - b.turn).map(({ parcel }) => parcel)
}

/** Destinations whose size is remembered; the one that was changed first is forgotten first. */
const REMEMBERED = 10_000

/**
 * How many jobs go into one request to each destination: half as many after one was refused whole, twice as many after
 * one was not. So a destination full of refusals does not send everything again at every size.
 */
export class ParcelSizes {
  readonly #sizes = new Map<string, number>()

  most(key: string): number {
    return this.#sizes.get(key) ?? Number.POSITIVE_INFINITY
  }

  refused(key: string, jobs: number): void {
    this.#sizes.delete(key)
    this.#sizes.set(key, Math.max(1, Math.ceil(jobs / 2)))
    if (this.#sizes.size <= REMEMBERED) return
    for (const oldest of this.#sizes.keys()) {
      this.#sizes.delete(oldest)
      break
    }
  }

  /** `jobs` is how many went together; only a full request tells that more may. */
  taken(key: string, jobs: number): void {
    const size = this.#sizes.get(key)
    if (size === undefined || jobs < size) return
    if (size * 2 > LARGEST) this.#sizes.delete(key)
    else this.#sizes.set(key, size * 2)
  }
}

/** Beyond it the provider's own bound, or that of a batch of the log, holds anyway. */
const LARGEST = 512
