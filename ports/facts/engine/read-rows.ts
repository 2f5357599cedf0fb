/** Reads what a statement found, in the format `JSONEachRow`. */

import type { ResultSet } from '@clickhouse/client'

import { IN_BACKGROUND, sliced } from '../../../common/sliced.ts'
import type { Turn } from '../query-rows.ts'
import type { EngineLines, EngineReads } from './connection.ts'

const NEWLINE = 0x0a

/** All rows of an answer that arrives in pieces; rejects like the client. */
export async function readRows(result: ResultSet<'JSONEachRow'>): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const rows of result.stream()) for await (const row of sliced(rows)) found.push(row.json())
  return found
}

/** The reads of a connection whose rows come as lines of JSON, all at once. */
export function readsOfLines(lines: EngineLines): EngineReads {
  const each: EngineReads['each'] = async (...asked) => rowsIn(await lines(...asked))
  return {
    query: async (statement, parameters, options) => allRows(await each(statement, parameters, options), options.turn),
    each,
  }
}

/** All of these rows; those of a report bit by bit, as nobody waits for it. */
async function allRows(rows: Iterable<unknown>, turn: Turn): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const row of turn === 'report' ? sliced(rows, IN_BACKGROUND) : sliced(rows)) found.push(row)
  return found
}

/**
 * The rows of an answer that is there as a whole, to be taken once, each made as it is taken. A text of the whole answer would be megabytes
 * that last until V8 marks the heap, and brings that about sooner; for the same reason the bytes are given back when the last row is taken.
 */
function* rowsIn(answer: Buffer): Generator<unknown> {
  for (let start = 0; start < answer.length;) {
    const newline = answer.indexOf(NEWLINE, start)
    const end = newline === -1 ? answer.length : newline
    yield JSON.parse(answer.toString('utf8', start, end))
    start = end + 1
  }
  const { buffer } = answer
  // A small one may share its memory with others.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === answer.byteLength) buffer.transfer(0)
}
