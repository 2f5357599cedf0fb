/**
 * Batches of one partition whose handler has taken them over: the next ones are handed over meanwhile, and the position is committed only up to
 * the lowest entry that is not finished.
 */

import type { StoredEntry } from './event-log.ts'

interface OpenBatch {
  readonly entries: readonly StoredEntry[]
  isDone: boolean
}

interface OpenBatchesOptions {
  /** Everything below this offset is finished. */
  readonly onDone: (offset: number) => void
  /** A batch could not be finished: it and all after it have to be handed over again, once `forget` was called. */
  readonly onFailure: (error: unknown) => void
}

export class OpenBatches {
  readonly #options: OpenBatchesOptions
  #open: OpenBatch[] = []
  #waiting: (() => void)[] = []

  constructor(options: OpenBatchesOptions) {
    this.#options = options
  }

  /** How many entries are not committed. */
  get entries(): number {
    return this.#open.reduce((sum, { entries }) => sum + entries.length, 0)
  }

  get isEmpty(): boolean {
    return this.#open.length === 0
  }

  /** The lowest offset that is not committed; null if there is none. */
  get firstOffset(): number | null {
    return this.#open[0]?.entries[0]?.offset ?? null
  }

  /** `until` resolves when these entries are finished; absent: they are. They follow all that were added before; not empty. */
  add(entries: readonly StoredEntry[], until?: Promise<unknown>): void {
    const batch: OpenBatch = { entries, isDone: until === undefined }
    this.#open.push(batch)
    until?.then(
      () => {
        batch.isDone = true
        this.#advance()
      },
      (error: unknown) => {
        if (this.#open.includes(batch)) this.#options.onFailure(error)
      },
    )
    this.#advance()
  }

  /** Forgets all; returns everything from the lowest unfinished entry on. What becomes of it is ignored from now on. */
  forget(): readonly StoredEntry[] {
    const all = this.#open.flatMap(({ entries }) => entries)
    this.#open = []
    this.#tellEmpty()
    return all
  }

  /** Resolves when none is open. */
  async settled(): Promise<void> {
    while (!this.isEmpty) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #advance(): void {
    const left = this.#open.findIndex(({ isDone }) => !isDone)
    const done = this.#open.splice(0, left === -1 ? this.#open.length : left)
    const last = done.at(-1)?.entries.at(-1)
    if (last !== undefined) this.#options.onDone(last.offset + 1)
    if (this.isEmpty) this.#tellEmpty()
  }

  #tellEmpty(): void {
    for (const tell of this.#waiting.splice(0)) tell()
  }
}
