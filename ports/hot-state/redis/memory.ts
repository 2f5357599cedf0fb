/** Bounded tables and lists in memory: the oldest entry is removed first. */

import { BoundedMap } from '../../../common/bounded-map.ts'
import type { Table } from '../../shared/lmdb/table.ts'

/** A table that is never stored. */
export function memoryTable(limit: number): Table {
  const entries = new BoundedMap<string, string>(limit)
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
