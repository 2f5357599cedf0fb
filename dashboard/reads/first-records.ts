/** Reads the first records of the newest events of a window, in two statements. */

import { completeRows, type FoundKey, type FoundRows } from '../../domain/logs/first-records.ts'

/** As many events as one statement names. Fewer cost the same, and repeats of old events may be among them. */
const KEYS = { least: 200, most: 2_000 }

interface FirstRecords<Row> {
  /** Events with a record in the window, those of the newest records first. */
  readonly keys: (limit: number) => Promise<readonly FoundKey[]>
  /** The first records of these events, if they are in the window, newest first. */
  readonly rows: (eventIds: readonly string[]) => Promise<readonly Row[]>
}

/** May find more rows than are wanted, or fewer though there are more further back. */
export async function readFirstRecords<Row extends FoundKey>(
  wanted: number,
  { keys: readKeys, rows: readRows }: FirstRecords<Row>,
): Promise<FoundRows<Row>> {
  const limit = Math.min(KEYS.most, Math.max(KEYS.least, wanted))
  const keys = await readKeys(limit)
  const rows = keys.length === 0 ? [] : await readRows(keys.map(({ event_id: id }) => id))
  return completeRows(keys, rows, limit)
}
