/** Marks the hours whose figures are changed by the rows written, so that the role `rollup` counts them again. */

import { hourAfter, hourOf, MINUTE_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { ownerKey } from '../../domain/records.ts'
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
  counted_installs: ['visit_issued_at'],
  visit_hours: ['began'],
}

/**
 * Nobody counts an hour before it has ended, so until then one mark serves all batches. This short time bounds how long a
 * restored copy of the facts may lack it.
 */
const SERVES_MS = 5 * MINUTE_MS
/** Before its end every batch marks an hour: another machine's clock may be ahead, and an insert may take minutes. */
const LAST_MS = 2 * LIMITS.clockSkewMs

/** A mark as it is read (`dirtyHours`): what a row of figures says that it has read. */
export function textOfMark({ writer, row_version: version }: RowOf<'hour_marks'>): string {
  return `${writer}/${version}`
}

interface BatchHours {
  note(table: FactTable, row: FactRow): void
  /** The hour after this moment, if it has ended: what sittings did in it depends on the hour before. */
  noteHourAfter(owned: OwnedWebsite, ms: number): void
  /** To be inserted right away, after the rows they belong to. Each call makes new marks. */
  rows(): readonly RowOf<'hour_marks'>[]
  /** The marks are stored, so that later batches need not repeat them for a while. */
  stored(): void
}

export interface HourMarks {
  readonly collect: () => BatchHours
}

/** `writer` must never be reused: marks are numbered per writer, so that no mark is mistaken for one that was read already. */
export function createHourMarks(writer: string, nowMs: () => number): HourMarks {
  let count = 0
  /** The marks of the present hour that were stored within the present five minutes. */
  let serving = { period: -1, websites: new Set<string>() }
  const servingAt = (now: number): Set<string> => {
    const period = Math.floor(now / SERVES_MS)
    if (serving.period !== period) serving = { period, websites: new Set() }
    return serving.websites
  }
  return {
    collect() {
      const hours = new Map<number, Map<string, OwnedWebsite>>()
      const present = hourOf(nowMs())
      const mark = (owned: OwnedWebsite, hour: number): void => {
        const marked = hours.get(hour) ?? new Map<string, OwnedWebsite>()
        marked.set(ownerKey(owned), owned)
        hours.set(hour, marked)
      }
      const noteHourAfter = (owned: OwnedWebsite, ms: number): void => {
        if (hourAfter(ms) < present) mark(owned, hourAfter(ms))
      }
      return {
        noteHourAfter,
        note(table, row) {
          const owned = { organization: String(row['organization']), website: String(row['website']) }
          for (const column of TIMES[table] ?? []) {
            const time = row[column]
            if (typeof time !== 'number' || time === 0) continue
            mark(owned, hourOf(time))
            if (table === 'visits' && (row['sitting'] ?? '') !== '') noteHourAfter(owned, time)
          }
        },
        rows() {
          count += 1
          const madeAt = nowMs()
          const served = madeAt < hourAfter(madeAt) - LAST_MS ? servingAt(madeAt) : new Set()
          const present = hours.get(hourOf(madeAt))
          for (const key of present?.keys() ?? []) if (served.has(key)) present?.delete(key)
          return [...hours].flatMap(([hour, websites]) =>
            [...websites.values()].map((owned) => ({ ...owned, hour, writer, made_at: madeAt, row_version: count })),
          )
        },
        stored() {
          const now = nowMs()
          const served = servingAt(now)
          for (const key of hours.get(hourOf(now))?.keys() ?? []) served.add(key)
        },
      }
    },
  }
}
