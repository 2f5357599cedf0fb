/** Reads what a statement found, in the format `JSONEachRow`. */

import type { ResultSet } from '@clickhouse/client'

import { IN_BACKGROUND, sliced } from '../../../common/sliced.ts'
import type { Turn } from '../query-rows.ts'

/** All rows of an answer that arrives in pieces; rejects like the client. */
export async function readRows(result: ResultSet<'JSONEachRow'>): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const rows of result.stream()) for await (const row of sliced(rows)) found.push(row.json())
  return found
}

/**
 * All rows of an answer that is there as a whole; those of a report bit by bit, as nobody waits for it. The client would make a text of each row first, for all rows at once: megabytes that each
 * garbage collection copies while requests wait.
 */
export async function readWholeRows(text: string, turn: Turn): Promise<readonly unknown[]> {
  const found: unknown[] = []
  const lines = turn === 'report' ? sliced(linesOf(text), IN_BACKGROUND) : sliced(linesOf(text))
  for await (const line of lines) found.push(JSON.parse(line))
  return found
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    yield text.slice(start, end)
    start = end + 1
  }
}
