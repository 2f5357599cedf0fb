/** Marks the hours whose figures are changed by the rows written, so that the role `rollup` counts them again. */

import { hourOf } from '../../domain/durations.ts'
import type { FactTable, RowOf } from '../../ports/facts/columns.ts'
import type { FactRow } from '../../ports/facts/facts.ts'

/** Time columns whose hours a row changes: a visit's steps count in the visit's hour, an install in its own hour as well. */
const TIMES: Readonly<Partial<Record<FactTable, readonly string[]>>> = {
  visits: ['issued_at'],
  activations: ['issued_at'],
  handoffs: ['issued_at'],
  installs: ['received_at', 'visit_issued_at'],
  install_decisions: ['received_at', 'visit_issued_at'],
  deliveries: ['install_received_at'],
}

interface BatchHours {
  note(table: FactTable, row: FactRow): void
  /** To be inserted after the rows they belong to. */
  rows(): readonly RowOf<'hour_marks'>[]
}

export interface HourMarks {
  readonly collect: () => BatchHours
}

/** `writer` must never be reused: marks are numbered per writer, so that no mark is mistaken for one that was read already. */
export function createHourMarks(writer: string, nowMs: () => number): HourMarks {
  let count = 0
  return {
    collect() {
      const hours = new Map<number, Set<string>>()
      return {
        note(table, row) {
          for (const column of TIMES[table] ?? []) {
            const time = row[column]
            if (typeof time !== 'number' || time === 0) continue
            const hour = hourOf(time)
            const website = String(row['website'])
            const marked = hours.get(hour)
            if (marked === undefined) hours.set(hour, new Set([website]))
            else marked.add(website)
          }
        },
        rows() {
          count += 1
          const madeAt = nowMs()
          return [...hours].flatMap(([hour, websites]) =>
            [...websites].map((website) => ({ website, hour, writer, made_at: madeAt, row_version: count })),
          )
        },
      }
    },
  }
}
