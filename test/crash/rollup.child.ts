/**
 * Writes facts as the facts-writer does, then counts their hours as the role `rollup` does, and kills itself at a step if it is told
 * one. Usage: JOB, as JSON.
 */

import { readFile } from 'node:fs/promises'

import { createErasures } from '../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../delivery/facts-writer/fact-batch.ts'
import { createHourMarks } from '../../delivery/counting/hour-marks.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import type { LogRecord } from '../../domain/records.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { NO_BACKLOG } from '../delivery/support/memory-facts.ts'

/** A step of the role, as its query or the table that it inserts into. */
export type RollupStep = 'dirtyHours' | 'hourFacts' | 'hourFunnel' | 'website_hours'

export interface RollupJob {
  readonly folder: string
  /** Of `LogRecord`s, as JSON. */
  readonly recordsFile: string
  readonly cycle: number
  /** It dies when it comes to this step for the nth time; null: it does not. */
  readonly death: { readonly at: 'before' | 'after'; readonly step: RollupStep; readonly nth: number } | null
}

const job = JSON.parse(process.argv[2] ?? '') as RollupJob
const records = JSON.parse(await readFile(job.recordsFile, 'utf8')) as readonly LogRecord[]
const connection = await openChdb(job.folder)
await migrate(connection)
const facts = clickhouseFacts(connection, { nowMs: Date.now })
const entries = records.map((record, index) => ({
  offset: job.cycle * 100_000 + index,
  value: JSON.stringify(record),
  appendedAtMs: 0,
}))
await writeBatch(facts, { topic: 'visits', partition: 0, entries } as never, {
  nowMs: Date.now,
  erasures: createErasures(facts),
  backlog: NO_BACKLOG,
  marks: createHourMarks(`writer-${job.cycle}`, Date.now),
})

let passed = 0
const die = async (at: 'before' | 'after', step: string): Promise<void> => {
  if (job.death === null || step !== job.death.step || at !== job.death.at) return
  passed += 1
  if (passed < job.death.nth) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}
const run: Facts['run'] = async (query, ...rest) => {
  await die('before', query)
  const rows = await facts.run(query, ...rest)
  await die('after', query)
  return rows
}
const insert: Facts['insert'] = async (table, rows) => {
  await die('before', table)
  await facts.insert(table, rows)
  await die('after', table)
}
// So few that there are many parts.
await rollUp({ facts: { run, insert }, nowMs: Date.now }, { factsAtOnce: 20 })
await facts.close()
