/** Reads what a statement found. */

import type { ResultSet } from '@clickhouse/client'

import { sliced } from '../../../common/sliced.ts'

/** All rows of the answer to a statement in the format `JSONEachRow`; rejects like the client. */
export async function readRows(result: ResultSet<'JSONEachRow'>): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for await (const rows of result.stream()) for await (const row of sliced(rows)) found.push(row.json())
  return found
}
