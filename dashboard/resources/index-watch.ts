/**
 * Asks again and again for the index of the published catalog, and so knows whether the copies here of what says who may do what are at least as
 * new. A watch that was cut is not silent for long then: if the index has news that the copies lack, they are read again.
 */

import { setTimeout as pause } from 'node:timers/promises'

import { sha256Hex } from '../../common/digest.ts'
import { every, type Repetition } from '../../common/every.ts'
import { LIMITS } from '../../domain/limits.ts'
import { rightsAgeAfter, type RightsAge } from '../../domain/people/rights-age.ts'
import { createRightsMark } from '../../domain/published/rights-mark.ts'
import type { Reflector } from '../../runtime/kube/reflector.ts'
import type { Logger } from '../../runtime/logger.ts'

type PublishedIndex = { readonly number: number; readonly rights: string }

interface IndexWatchParts {
  /** The index as the API server has it now; null if nothing was published yet. Rejects without an answer. */
  readonly ask: (signal: AbortSignal) => Promise<PublishedIndex | null>
  /** Of the kinds that say who may do what. */
  readonly copies: readonly Pick<Reflector, 'objects' | 'readAgain' | 'latestLists'>[]
  /** Monotonic, in ms. */
  readonly elapsedMs: () => number
  readonly logger: Logger
  /** Set by tests. */
  readonly everyMs?: number
}

interface IndexWatch {
  readonly rightsAge: () => RightsAge
  /** Of the last index that was read; 0 before the first one. */
  readonly number: () => number
  /** Resolves when the copies are known to be as new as an index for the first time, or on `close`. */
  readonly confirmed: Promise<void>
  readonly close: () => Promise<void>
}

/** Nothing was published: whoever has read everything from the API server knows as much as anybody. */
const NO_INDEX: PublishedIndex = { number: 0, rights: '' }
/** An event may come a moment after the index that counts it. */
const EVENT_LOOKS = 25
const LOOK_MS = 20

export function watchIndex(parts: IndexWatchParts): IndexWatch {
  const watch = new Watch(parts)
  const running = watch.run()
  return {
    rightsAge: () => watch.rightsAge(),
    number: () => watch.number,
    confirmed: watch.confirmed.promise,
    close: async () => {
      await running.close()
      watch.confirmed.resolve()
    },
  }
}

class Watch {
  readonly confirmed = Promise.withResolvers<void>()
  number = 0
  readonly #parts: IndexWatchParts
  readonly #mark = createRightsMark(sha256Hex)
  /** The index that the copies are known to be as new as. */
  #reached: PublishedIndex | null = null
  /** Lists that are being read for this index, with how many were read before. */
  #wanted: { readonly index: PublishedIndex; readonly before: readonly number[] } | null = null
  #confirmedAtMs = Number.NEGATIVE_INFINITY
  #isLate = false

  constructor(parts: IndexWatchParts) {
    this.#parts = parts
  }

  rightsAge(): RightsAge {
    return rightsAgeAfter(this.#parts.elapsedMs() - this.#confirmedAtMs)
  }

  run(): Repetition {
    const round = async (closing: AbortSignal): Promise<void> => {
      await this.#look(closing).catch(() => undefined)
      this.#tell()
    }
    return every(this.#parts.everyMs ?? LIMITS.rightsAskEveryMs, round, { onFailure: () => undefined })
  }

  /** Rejects without an answer, and if the copies cannot be read again in time. */
  async #look(closing: AbortSignal): Promise<void> {
    const { ask, elapsedMs } = this.#parts
    const signal = AbortSignal.any([closing, AbortSignal.timeout(LIMITS.rightsFreshMs)])
    const askedAtMs = elapsedMs()
    const index = (await ask(signal)) ?? NO_INDEX
    this.number = index.number
    if (!this.#hasReached(index)) await this.#catchUp(index, signal)
    this.#reached = index
    this.#confirmedAtMs = askedAtMs
    this.confirmed.resolve()
  }

  #hasReached({ number, rights }: PublishedIndex): boolean {
    if (isSameIndex(this.#reached, { number, rights })) return true
    return rights !== '' && rights === this.#mark(this.#objects())
  }

  /** Whatever differs: a list of the latest state is at least as new as an index that was read before. */
  async #catchUp(index: PublishedIndex, signal: AbortSignal): Promise<void> {
    const { copies } = this.#parts
    for (let looks = 0; looks < EVENT_LOOKS; looks += 1) {
      await pause(LOOK_MS, undefined, { signal })
      if (this.#hasReached(index)) return
    }
    const before = this.#listsBefore(index)
    while (copies.some((copy, place) => copy.latestLists() === before[place])) {
      await pause(LOOK_MS, undefined, { signal })
      if (this.#hasReached(index)) return
    }
  }

  /** Has them read, unless they are being read for this index already: a long list may take longer than one look. */
  #listsBefore(index: PublishedIndex): readonly number[] {
    if (this.#wanted !== null && isSameIndex(this.#wanted.index, index)) return this.#wanted.before
    const { copies } = this.#parts
    const before = copies.map((copy) => copy.latestLists())
    for (const copy of copies) copy.readAgain()
    this.#wanted = { index, before }
    return before
  }

  *#objects() {
    for (const { objects } of this.#parts.copies) yield* objects.values()
  }

  #tell(): void {
    const { logger } = this.#parts
    const isLate = this.rightsAge() !== 'current'
    if (isLate === this.#isLate) return
    this.#isLate = isLate
    if (isLate) logger.warn({}, 'it is not certain who may do what: nobody signs in, and nothing is written')
    else logger.info({}, 'it is certain again who may do what')
  }
}

function isSameIndex(a: PublishedIndex | null, b: PublishedIndex): boolean {
  return a?.number === b.number && a.rights === b.rights
}
