/**
 * A process that opens facts on chDB and inserts on command, to be killed by a test: `node facts-child.ts FOLDER`.
 *
 * Reads a number and perhaps a table from each line, and inserts as many visits with their request logs, or only that
 * table of them. The numbers of rows of a table run on. Answers a line once its inserts have resolved.
 */

import { createInterface } from 'node:readline'

import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactTable } from '../../ports/facts/columns.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { rowsOf, visitRecord } from './fact-samples.ts'

const connection = await openChdb(process.argv[2] ?? '')
await migrate(connection)
const facts = clickhouseFacts(connection, { nowMs: Date.now })
const counts = new Map<FactTable, number>()
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [count = '0', only = ''] = line.split(' ')
  for (const table of ['visits', 'request_logs'] as const) {
    if (only === '' || only === table) await insert(table, Number(count))
  }
  console.log(`inserted ${count}`)
}
await facts.close()

async function insert(table: FactTable, count: number): Promise<void> {
  const first = counts.get(table) ?? 0
  counts.set(table, first + count)
  const records = Array.from({ length: count }, (_, index) => {
    const visitId = (first + index).toString(16).padStart(32, '0')
    const record = visitRecord({ website: 'killed', visitId })
    return { ...record, request: { ...record.request, id: visitId.slice(4) } }
  })
  await facts.insert(table, rowsOf(records).get(table) ?? [])
}
