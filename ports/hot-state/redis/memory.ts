/** Tables and lists in memory with a bound: the oldest entry goes first. */

import type { Table } from '../../lmdb/table.ts'

/** A map of at most `limit` entries; writing one again makes it the newest. */
export class BoundedMap<T> {
  readonly #entries = new Map<string, T>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: T): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#limit) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      break
    }
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  entries(): IterableIterator<[string, T]> {
    return this.#entries.entries()
  }
}

/** A table that is never stored. */
export function memoryTable(limit: number): Table {
  const entries = new BoundedMap<string>(limit)
  return {
    get: (key) => entries.get(key),
    put: (key, value) => entries.set(key, value),
    remove: (key) => entries.delete(key),
    range: ({ start, end, limit: most }) =>
      [...entries.entries()]
        .filter(([key]) => key >= start && key < end)
        .slice(0, most)
        .map(([key, value]) => ({ key, value })),
  }
}
