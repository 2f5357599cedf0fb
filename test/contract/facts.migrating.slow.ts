/**
 * Migrations while visits and installs are collected: first the tables of this version, for which a facts-writer waits, then those of
 * a made-up next one, beside the facts-writer and the inserts of this one, which go on.
 */

import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

import { expect } from 'chai'

import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { FACTS_WRITER_GROUP } from '../../domain/collection/facts-lag.ts'
import { encodeRecord, type LogRecord, type RecordTopic } from '../../domain/records.ts'
import { startClickHouse, type ClickHouseServer } from '../../fixtures/engines/clickhouse-server.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { until } from '../../fixtures/until.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { openLmdb, type LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { installRecord, requestRecord, unique, visitRecord } from './fact-samples.ts'

const SQL_FOLDER = new URL('../../ports/facts/sql/', import.meta.url)
/** What a next version may do, one file after the other. */
const NEXT: Readonly<Record<string, string>> = {
  '9001_column.sql':
    'ALTER TABLE installs {{onCluster}} ADD COLUMN IF NOT EXISTS shell LowCardinality(String) AFTER agent;',
  '9002_order.sql':
    'ALTER TABLE installs {{onCluster}} ADD PROJECTION IF NOT EXISTS by_shell (SELECT organization, website, shell ORDER BY organization, website, shell);\nALTER TABLE installs {{onCluster}} MATERIALIZE PROJECTION by_shell;',
  '9003_table.sql':
    'CREATE TABLE IF NOT EXISTS more {{onCluster}} (t String, row_version UInt64) ENGINE = {{replacing}} ORDER BY t SETTINGS {{durable}};',
}
const WEBSITE = 'acme-dev'
const EVERY_MS = 10
const onFatal = (error: Error): void => {
  throw error
}
/** Begins with the time, as IDs of visits do. */
const visitIdNow = (): string => `0a${Date.now().toString(16).padStart(12, '0')}${newId().slice(0, 18)}`

describe('migrations while facts are collected', function () {
  this.timeout(300_000)
  let folder: string
  let server: ClickHouseServer
  let connection: FactsConnection
  let environment: LmdbEnvironment
  let log: LmdbEventLog
  /** IDs of what was answered: it is on the log, or the engine has acknowledged the insert. */
  const kept = { visits: [] as string[], installs: [] as string[], inserted: [] as string[] }
  let isCollecting = true

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-migrating-'))
    server = await startClickHouse()
    connection = openClickHouse(server.url)
    environment = await openLmdb(join(folder, 'log'), { nowMs: Date.now, onFatal, minFreeBytes: 0 })
    log = await lmdbEventLog(environment)
  })
  after(async () => {
    isCollecting = false
    await log?.close()
    await environment?.close()
    await connection?.close()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const append = async (topic: RecordTopic, record: LogRecord): Promise<void> => {
    await log.append(topic, [{ key: unique('key'), value: encodeRecord(record) }], { deadlineMs: 10_000 })
  }
  const collect = async (): Promise<void> => {
    while (isCollecting) {
      const visit = visitRecord({
        website: WEBSITE,
        visitId: visitIdNow(),
      })
      await append('visits', visit)
      kept.visits.push(visit.visit.visitId)
      const install = installRecord({ website: WEBSITE, eventId: unique('event') })
      await append('installs', install)
      kept.installs.push(install.install.eventId)
      await append('requests', requestRecord({ website: WEBSITE }))
      await pause(EVERY_MS)
    }
  }
  /** As pods of this version go on writing until they are replaced, whatever columns there are. */
  const insert = async (): Promise<void> => {
    const old = openClickHouse(server.url)
    while (isCollecting) {
      const id = unique('event')
      await old.command(`INSERT INTO installs (organization, website, event_id, resolution, received_at, retention_days)
        SELECT 'acme', '${WEBSITE}', '${id}', 'matched', now64(3), 395`)
      kept.inserted.push(id)
      await pause(EVERY_MS)
    }
    await old.close()
  }
  const leastKept = (): number => Math.min(...Object.values(kept).map(({ length }) => length))
  const goneOn = async (): Promise<void> => {
    const before = leastKept()
    await until(async () => {
      await pause(EVERY_MS)
      return leastKept() > before
    })
  }
  const idsIn = async (table: string, column: string): Promise<readonly string[]> => {
    const text = `SELECT ${column} AS id FROM ${table} FINAL WHERE website = '${WEBSITE}' LIMIT 1000000`
    return (await connection.query(text, {}, { turn: 'report' })).map((row) => String((row as { id: unknown }).id))
  }

  it('lose nothing that was answered, show nothing twice, and refuse no row', async () => {
    const sql = join(folder, 'sql')
    await cp(SQL_FOLDER, sql, { recursive: true })
    const staged = pathToFileURL(`${sql}/`)
    const facts = clickhouseFacts(openClickHouse(server.url), { nowMs: Date.now })
    const options = { lingerMs: 2, gatherMs: 0, busyGatherMs: 0, politeness: 0 }
    const writer = await startFactsWriter({ eventLog: log, facts, logger: SILENT_LOGGER, nowMs: Date.now, options })
    const collected = collect()
    await until(() => kept.installs.length > 10)
    await migrate(connection, { folder: staged })
    const collecting = [collected, insert()]
    for (const [name, text] of Object.entries(NEXT)) {
      await goneOn()
      await writeFile(join(sql, name), text)
      expect(await migrate(connection, { folder: staged })).to.deep.equal([name])
    }
    await goneOn()
    isCollecting = false
    await Promise.all(collecting)
    await until(async () => {
      await pause(EVERY_MS)
      return (await log.lag()).every(({ group, entries }) => group !== FACTS_WRITER_GROUP || entries === 0)
    })
    expect((await idsIn('visits', 'visit_id')).toSorted()).to.deep.equal(kept.visits.toSorted())
    const installs = [...kept.installs, ...kept.inserted].toSorted()
    expect((await idsIn('installs', 'event_id')).toSorted()).to.deep.equal(installs)
    expect(kept.inserted.length).to.be.at.least(Object.keys(NEXT).length)
    const refused = await connection.query('SELECT count() AS rows FROM poison_records', {}, { turn: 'report' })
    expect(refused.map((row) => Number((row as { rows: unknown }).rows))).to.deep.equal([0])
    await writer.close()
    await facts.close()
  })
})
