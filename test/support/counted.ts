/** Stores records as facts, and counts their installs, as the facts-writer does. */

import { countInstalls } from '../../delivery/counting/count-installs.ts'
import { createHourMarks, type HourMarks } from '../../delivery/counting/hour-marks.ts'
import type { LogRecord } from '../../domain/records.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import { rowsOf, unique } from '../contract/fact-samples.ts'

export async function storeCounted(
  facts: FactsReader & FactsWriter,
  records: readonly LogRecord[],
  nowMs: () => number,
): Promise<void> {
  const marks = createHourMarks(unique('test'), nowMs)
  const hours = marks.collect()
  for (const [table, rows] of rowsOf(records)) {
    await facts.insert(table, rows)
    for (const row of rows) hours.note(table, row)
  }
  await facts.insert('hour_marks', hours.rows())
  await countStored(facts, records, marks)
}

/** Counts the installs among these records, which are stored. */
export async function countStored(
  facts: FactsReader & FactsWriter,
  records: readonly LogRecord[],
  marks: HourMarks,
): Promise<void> {
  const installs = records.filter((record) => record.kind === 'install').map(({ install }) => install)
  const keys = installs.map(({ organization, website, eventId }) => ({ organization, website, event_id: eventId }))
  await countInstalls(facts, keys, { marks })
}
