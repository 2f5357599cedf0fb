/** One LMDB table of strings whose own writes are visible at once, before the transaction that stores them. */

import type { Database } from 'lmdb'

import type { Committer } from './committer.ts'

export interface Table {
  get(key: string): string | undefined
  /** Visible at once; stored with the next transaction, within `LAZY_COMMIT_MS`. */
  put(key: string, value: string): void
  remove(key: string): void
  /**
   * Stored keys and values from `start` up to, but not including, `end`, at most `limit`; skips what is not stored yet.
   */
  range(bounds: TableRange): { readonly key: string; readonly value: string }[]
}

interface TableRange {
  readonly start: string
  readonly end: string
  readonly limit: number
}

/** How long a write that no caller awaits may stay in memory. */
const LAZY_COMMIT_MS = 50

export function openTable(database: Database<string, string>, committer: Committer): Table {
  let queued = new Map<string, string | null>()
  let underWay: ReadonlyMap<string, string | null> = new Map()

  committer.contribute((write) => {
    if (queued.size === 0) return null
    underWay = queued
    queued = new Map()
    for (const [key, value] of underWay) write(database, key, value)
    return () => {
      underWay = new Map()
    }
  })

  const set = (key: string, value: string | null): void => {
    queued.set(key, value)
    committer.requestWithin(LAZY_COMMIT_MS)
  }
  return {
    get(key) {
      const unwritten = queued.has(key) ? queued.get(key) : underWay.get(key)
      return unwritten === undefined ? database.get(key) : (unwritten ?? undefined)
    },
    put: set,
    remove: (key) => set(key, null),
    range: ({ start, end, limit }) => [...database.getRange({ start, end, limit })],
  }
}
