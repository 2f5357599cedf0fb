/**
 * Judges one day after another as the role `rollup` does, with a facts-writer beside it, and kills itself at a step of the last of them if it is told one.
 * Usage: JOB, as JSON.
 */

import { join } from 'node:path'

import { createAlertJudge } from '../../delivery/alerts/alerts.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { catalogOf } from '../../fixtures/delivery/builders.ts'
import { until } from '../../fixtures/until.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { openTestEnvironment } from '../contract/lmdb-harness.ts'

/** A step: a query, the table that the facts-writer inserts into, or the topic that is appended to. */
export type AlertStep =
  'progress' | 'websitesToCount' | 'hourTotals' | 'quarterInstalls' | 'alertsToJudge' | 'append' | 'alerts'

export interface AlertJob {
  readonly folder: string
  /** A moment on each of the days after those that are judged, Unix ms. */
  readonly moments: readonly number[]
  /** At the last of them; null: it lives. */
  readonly death: { readonly at: 'before' | 'after'; readonly step: AlertStep } | null
}

/** Rounds after which a day is judged, and judged once more. */
const ROUNDS = 3

const { folder, moments, death } = JSON.parse(process.argv[2] ?? '') as AlertJob
let nowMs = 0
let isArmed = false
const die = async (at: 'before' | 'after', step: string): Promise<void> => {
  if (!isArmed || step !== death?.step || at !== death.at) return
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => undefined)
}
const around = async <T>(step: string, act: () => Promise<T>): Promise<T> => {
  await die('before', step)
  const result = await act()
  await die('after', step)
  return result
}

const environment = await openTestEnvironment(folder, Date.now)
const log = await lmdbEventLog(environment)
const real = clickhouseFacts(await openChdb(join(folder, 'facts')), { nowMs: Date.now })
const run: Facts['run'] = (query, ...rest) => around(query, () => real.run(query, ...rest))
/** Nothing but alerts is on the log. */
const startBatch: Facts['startBatch'] = () => {
  const batch = real.startBatch()
  const insert = batch.insert.bind(batch)
  return Object.assign(batch, { insert: () => around('alerts', insert) })
}
const writer = await startFactsWriter({
  eventLog: log,
  facts: { ...real, startBatch },
  logger: SILENT_LOGGER,
  nowMs: Date.now,
  options: { lingerMs: 0, gatherMs: 0, busyGatherMs: 0, politeness: 0 },
})
const judge = createAlertJudge({
  facts: { run },
  eventLog: {
    progress: (topic, group) => around('progress', () => log.progress(topic, group)),
    append: (topic, entries, options) => around('append', () => log.append(topic, entries, options)),
  },
  catalog: { current: () => catalogOf([]) },
  nowMs: () => nowMs,
  onChange: () => undefined,
})
const written = () =>
  until(async () => {
    const { done, ends } = await log.progress('alerts', 'facts-writer')
    return ends.every((end, partition) => end === done[partition])
  })

for (const [place, moment] of moments.entries()) {
  nowMs = moment
  isArmed = death !== null && place === moments.length - 1
  for (let round = 0; round < ROUNDS; round++) {
    await written()
    await judge()
    await written()
  }
}
await writer.close()
await log.close()
await environment.close()
await real.close()
