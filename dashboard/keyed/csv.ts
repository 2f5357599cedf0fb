/** Answers of programs as CSV: a line of names, then one for each row, and nothing else. */

import { csvLine } from '../../common/csv.ts'
import { CSV_TYPE, type StreamAnswer } from '../http/call.ts'

type ShownCell = string | number | boolean | null | undefined

/** `next`: where the rest is, as a path of ours. */
export function csvAnswer(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, ShownCell>>[],
  next: string | null = null,
): StreamAnswer<typeof CSV_TYPE> {
  const headers = next === null ? {} : { headers: { Link: `<${next}>; rel="next"` } }
  return { kind: 'stream', contentType: CSV_TYPE, ...headers, chunks: linesOf(columns, rows) }
}

async function* linesOf(columns: readonly string[], rows: readonly Readonly<Record<string, ShownCell>>[]) {
  yield csvLine(columns) + rows.map((row) => csvLine(columns.map((name) => keyedCell(row[name])))).join('')
}

function keyedCell(cell: ShownCell): string | number | null {
  return typeof cell === 'boolean' ? String(cell) : (cell ?? null)
}
