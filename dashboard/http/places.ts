/**
 * Reads of the dashboard that run at the same time: so many for a person and for an organisation. Others wait, those of each rank in their order,
 * and a full queue refuses whoever filled it. Tails are counted elsewhere (`events/event-streams.ts`).
 */

import { reasonOf } from '../../common/deadline.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { LIMITS, READ_PLACES, type ReadRank } from '../../domain/limits.ts'
import { type ScopedCall, type Handler, type HandlerOutcome, type OrganizationScope } from './call.ts'

type PlacedRank = Exclude<ReadRank, 'tail' | 'replay'>

interface Reader {
  readonly rank: PlacedRank
  readonly organization: string
  readonly person: string
}

interface WaitingReader extends Reader {
  /** Null: the queue is full. */
  readonly answer: (place: ReadPlace | null) => void
}

interface ReadPlace {
  /** Gives it back; further calls do nothing. */
  readonly leave: () => void
  readonly hasWaited: boolean
}

/** Counts by rank, organisation and person. */
class ReaderCounts {
  readonly #counts = new Map<string, number>()

  add({ rank, organization, person }: Reader, by: 1 | -1): void {
    for (const key of [`${rank} o ${organization}`, `${rank} p ${person}`]) {
      const count = (this.#counts.get(key) ?? 0) + by
      if (count === 0) this.#counts.delete(key)
      else this.#counts.set(key, count)
    }
  }

  ofOrganization({ rank, organization }: Reader): number {
    return this.#counts.get(`${rank} o ${organization}`) ?? 0
  }

  ofPerson({ rank, person }: Reader): number {
    return this.#counts.get(`${rank} p ${person}`) ?? 0
  }

  isBelow(reader: Reader, most: { readonly person: number; readonly organization: number }): boolean {
    return this.ofPerson(reader) < most.person && this.ofOrganization(reader) < most.organization
  }
}

/** Of one process. */
export class ReadPlaces {
  readonly #running = new ReaderCounts()
  readonly #waitingCounts = new ReaderCounts()
  readonly #waiting: WaitingReader[] = []

  /**
   * Resolves when it may run; with null if too many wait already. Rejects with the reason of the signal if its client leaves before.
   */
  async enter(reader: Reader, signal: AbortSignal): Promise<ReadPlace | null> {
    signal.throwIfAborted()
    if (this.#running.isBelow(reader, READ_PLACES[reader.rank])) return { leave: this.#start(reader), hasWaited: false }
    if (!this.#waitingCounts.isBelow(reader, READ_PLACES.waiting)) return null
    if (this.#waiting.length >= READ_PLACES.waiting.all && !this.#makeRoomFor(reader)) return null
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#remove(waiting)
        reject(reasonOf(signal))
      }
      const waiting: WaitingReader = {
        ...reader,
        answer: (place) => {
          signal.removeEventListener('abort', leave)
          resolve(place)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
      this.#waitingCounts.add(waiting, 1)
    })
  }

  #start(reader: Reader): () => void {
    this.#running.add(reader, 1)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      this.#running.add(reader, -1)
      this.#next()
    }
  }

  #next(): void {
    const next = this.#waiting.find((each) => this.#running.isBelow(each, READ_PLACES[each.rank]))
    if (next === undefined) return
    this.#remove(next)
    next.answer({ leave: this.#start(next), hasWaited: true })
  }

  #remove(waiting: WaitingReader): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
    this.#waitingCounts.add(waiting, -1)
  }

  /** Refuses the latest of the organisation that has the most in the queue. False if that is the reader's own. */
  #makeRoomFor(reader: Reader): boolean {
    const latest = this.#waiting.reduceRight((most, each) =>
      this.#waitingCounts.ofOrganization(each) > this.#waitingCounts.ofOrganization(most) ? each : most,
    )
    if (this.#waitingCounts.ofOrganization(latest) <= this.#waitingCounts.ofOrganization(reader)) return false
    this.#remove(latest)
    latest.answer(null)
    return true
  }
}

export interface PlacedParts {
  readonly places: { readonly enter: ReadPlaces['enter'] }
  /** What its person or key may do, asked again after a wait: they may have been removed, or have signed out. */
  readonly findAgain: () => Promise<OrganizationScope | Refusal | null>
}

/** Runs the handler of a read when there is a place for it; a download keeps its place until it has ended. */
export async function handlePlaced(
  handle: Handler,
  call: ScopedCall,
  { places, findAgain }: PlacedParts,
): Promise<HandlerOutcome> {
  const { rank, signal } = call
  if (rank === 'tail' || rank === 'replay') return handle(call)
  const { organization, reader } = call.scope
  const place = await places.enter({ rank, organization: organization.id, person: reader }, signal)
  if (place === null) return FULL
  try {
    const scope = place.hasWaited ? await findAgain() : call.scope
    const outcome =
      scope === null || 'code' in scope ? (scope ?? refuse('unauthenticated')) : await handle({ ...call, scope })
    if (outcome.kind === 'stream') return { ...outcome, onEnd: both(place.leave, outcome.onEnd) }
    place.leave()
    return outcome
  } catch (error) {
    place.leave()
    throw error
  }
}

function both(leave: () => void, onEnd: (() => void) | undefined): () => void {
  return () => {
    leave()
    onEnd?.()
  }
}

const FULL: Refusal = refuse('unavailable', { retryAfter: LIMITS.unavailableRetryS })
