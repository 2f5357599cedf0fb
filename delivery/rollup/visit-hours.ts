/**
 * Stores what visits that began in an earlier hour did in one hour, so that they count with it in the hour in which they began: that hour is
 * marked for what has changed, and the hour after this one, which knows from these rows when its visits began.
 */

import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import { MAX_CHANGES, type VisitHourRow } from '../../ports/facts/pages/sittings.ts'
import type { RawPeriod } from '../../ports/facts/pages/ranges.ts'
import type { HourMarks } from '../counting/hour-marks.ts'

type HourMark = RowOf<'hour_marks'>

/**
 * `hours` are those of some websites. Resolves with the marks that it made of hours which this changes, a later one of the same hour after an earlier one.
 * It may be repeated. Rejects like `Facts`.
 */
export async function storeVisitHours(
  facts: FactsReader & FactsWriter,
  hours: RawPeriod,
  marks: HourMarks,
): Promise<readonly HourMark[]> {
  const made: HourMark[] = []
  let found = MAX_CHANGES
  while (found === MAX_CHANGES) {
    const rows = await facts.run('changedVisitHours', hours)
    made.push(...(await storeSome(facts, rows, marks)))
    found = rows.length
  }
  return made
}

async function storeSome(
  facts: FactsWriter,
  rows: readonly VisitHourRow[],
  marks: HourMarks,
): Promise<readonly HourMark[]> {
  if (rows.length === 0) return []
  const stored = rows.map(storedRow)
  const hours = marks.collect()
  for (const row of stored) {
    hours.note('visit_hours', row)
    if (row.row_version === 1 || row.is_gone) hours.noteHourAfter(row, row.hour)
  }
  // Before the rows, since nothing tells later that they are new; and after them for whoever counted such an hour in between.
  await facts.insert('hour_marks', hours.rows())
  await facts.insert('visit_hours', stored)
  const last = hours.rows()
  await facts.insert('hour_marks', last)
  return last
}

function storedRow(row: VisitHourRow): RowOf<'visit_hours'> {
  const {
    organization,
    website,
    sitting,
    began_ms: began,
    hour_ms: hour,
    pages,
    agents,
    retention_days,
    installed_ms,
  } = row
  return {
    organization,
    website,
    began,
    sitting,
    hour,
    is_gone: row.is_gone === 1,
    pages,
    is_activated: row.is_activated === 1,
    is_copied: row.is_copied === 1,
    is_started: row.is_started === 1,
    has_first_run: row.has_first_run === 1,
    installed_at: installed_ms === 0 ? null : installed_ms,
    agents,
    retention_days,
    row_version: row.row_version + 1,
  }
}
