/** A fair queue in front of the engine: look-ups of requests first, then whoever `ranks.ts` says. */

import { reasonOf } from '../../../common/deadline.ts'
import type { StatementShare, Turn } from '../query-rows.ts'
import { Ranks, type Charged, type WaitingStatement } from './ranks.ts'

interface TakeOptions {
  readonly turn: Turn
  /** Whose task it is; absent: of the service itself. */
  readonly share?: StatementShare | undefined
  /** A task that still waits when this is aborted never runs, and `take` rejects with the reason. */
  readonly signal?: AbortSignal | undefined
}

interface TurnsOptions {
  /** Tasks that run at the same time; one if absent. */
  readonly places?: number
  /** Of these, for one organisation or one person; all of them if absent. */
  readonly placesOfOne?: number
  /** A clock that never goes back; the process's own if absent. */
  readonly elapsedMs?: () => number
}

/** How long the engine may stay idle for the next statement of the page that it has just served: another thread asks it, which may wait for the processor. */
const HOLD_MS = 20

/** Callers bound how many tasks they start; no task is refused here. */
export class Turns {
  readonly #places: number
  readonly #elapsedMs: () => number
  readonly #lookUps: (() => void)[] = []
  readonly #ranks: Ranks
  readonly #idlers: (() => void)[] = []
  #running = 0
  #isHolding = false

  constructor({ places = 1, placesOfOne = places, elapsedMs = () => performance.now() }: TurnsOptions = {}) {
    this.#places = places
    this.#elapsedMs = elapsedMs
    this.#ranks = new Ranks({ placesOfOne, elapsedMs })
  }

  /** Settles as the task does, which runs when it is its turn. */
  async take<T>({ turn, share, signal }: TakeOptions, task: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    if (turn === 'look-up' && share === undefined) {
      await this.#wait((start) => this.#addLookUp(start), signal)
      return task().finally(() => this.#ended())
    }
    const who: Charged = { organization: '', person: '', ...share, rank: share?.rank ?? rankOf(turn) }
    await this.#wait((start) => this.#addWaiting({ ...who, start }), signal)
    const startedMs = this.#elapsedMs()
    return task().finally(() => {
      this.#ranks.charge(who, this.#elapsedMs() - startedMs)
      this.#holdFor(who)
      this.#ended()
    })
  }

  /** Resolves when nothing runs and nothing waits. */
  async idle(): Promise<void> {
    if (this.#running > 0 || this.#isHolding) await new Promise<void>((resolve) => this.#idlers.push(resolve))
  }

  #addLookUp(start: () => void): () => void {
    this.#lookUps.push(start)
    return () => this.#lookUps.splice(this.#lookUps.indexOf(start), 1)
  }

  #addWaiting(waiting: WaitingStatement): () => void {
    this.#ranks.add(waiting)
    return () => this.#ranks.remove(waiting)
  }

  /** `add` puts it in line, and returns what takes it out again. */
  #wait(add: (start: () => void) => () => void, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        remove()
        if (signal !== undefined) reject(reasonOf(signal))
      }
      const remove = add(() => {
        signal?.removeEventListener('abort', leave)
        resolve()
      })
      signal?.addEventListener('abort', leave, { once: true })
      this.#next()
    })
  }

  #ended(): void {
    this.#running -= 1
    this.#next()
  }

  #next(): void {
    while (this.#running < this.#places) {
      const start = this.#lookUps.shift() ?? this.#ranks.next()?.start
      if (start === undefined) break
      this.#running += 1
      start()
    }
    if (this.#running === 0 && !this.#isHolding) for (const wake of this.#idlers.splice(0)) wake()
  }

  /**
   * A page asks one statement after the other. If its next one comes at once it goes before those of whoever used more; otherwise each would
   * wait for one of theirs. With several places there is one for it anyway.
   */
  #holdFor(who: Charged): void {
    if (this.#isHolding || this.#places > 1 || who.rank !== 'page' || who.organization === '') return
    this.#isHolding = this.#ranks.hold(who)
    if (!this.#isHolding) return
    setTimeout(() => {
      this.#isHolding = false
      this.#ranks.release()
      this.#next()
    }, HOLD_MS)
  }
}

function rankOf(turn: Turn): Charged['rank'] {
  return turn === 'report' ? 'role' : 'page'
}
