/**
 * Migrations while visits and installs are collected: from the tables of the first release to those of this one, step by step, beside
 * a facts-writer of this release, which waits for its tables, and inserts as the first release made them, which go on. The embedded
 * program migrates before it accepts anything: what it had on its log is stored afterwards.
 */

import { readdirSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

import { expect } from 'chai'

import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { FACTS_WRITER_GROUP } from '../../domain/collection/facts-lag.ts'
import { encodeRecord, type LogRecord, type RecordTopic } from '../../domain/records.ts'
import { startClickHouse, type ClickHouseServer } from '../../fixtures/engines/clickhouse-server.ts'
import { eventBody, newId, post, visitBody } from '../../fixtures/service/requests.ts'
import { startTestService, TEST_ORIGIN, type TestService } from '../../fixtures/service/service.ts'
import { until } from '../../fixtures/until.ts'
import { lmdbEventLog, type LmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { openLmdb, type LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { installRecord, requestRecord, unique, visitRecord } from './fact-samples.ts'

const SQL_FOLDER = new URL('../../ports/facts/sql/', import.meta.url)
const FIRST_RELEASE = '0001_facts.sql'
/** In their order. */
const LATER = readdirSync(SQL_FOLDER)
  .filter((name) => name !== FIRST_RELEASE)
  .toSorted()
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
  const kept = { visits: [] as string[], installs: [] as string[], ofFirstRelease: [] as string[] }
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
  /** As pods of the first release go on writing until they are replaced. */
  const insertAsBefore = async (): Promise<void> => {
    const old = openClickHouse(server.url)
    while (isCollecting) {
      const id = unique('event')
      await old.command(`INSERT INTO installs (organization, website, event_id, resolution, received_at, retention_days)
        SELECT 'acme', '${WEBSITE}', '${id}', 'matched', now64(3), 395`)
      kept.ofFirstRelease.push(id)
      await pause(EVERY_MS)
    }
    await old.close()
  }
  const collected = (): number => Math.min(...Object.values(kept).map(({ length }) => length))
  const goneOn = async (): Promise<void> => {
    const before = collected()
    await until(async () => {
      await pause(EVERY_MS)
      return collected() > before
    })
  }
  const idsIn = async (table: string, column: string): Promise<readonly string[]> => {
    const text = `SELECT ${column} AS id FROM ${table} FINAL WHERE website = '${WEBSITE}' LIMIT 1000000`
    return (await connection.query(text, {}, { turn: 'report' })).map((row) => String((row as { id: unknown }).id))
  }

  it('lose nothing that was answered, show nothing twice, and refuse no row', async () => {
    const sql = join(folder, 'sql')
    await mkdir(sql)
    const staged = pathToFileURL(`${sql}/`)
    const step = async (name: string): Promise<readonly string[]> => {
      await cp(new URL(name, SQL_FOLDER), join(sql, name))
      return migrate(connection, { folder: staged })
    }
    expect(await step(FIRST_RELEASE)).to.deep.equal([FIRST_RELEASE])
    const facts = clickhouseFacts(openClickHouse(server.url), { nowMs: Date.now })
    const options = { lingerMs: 2, gatherMs: 0, busyGatherMs: 0, politeness: 0 }
    const writer = await startFactsWriter({ eventLog: log, facts, logger: SILENT_LOGGER, nowMs: Date.now, options })
    const collecting = [collect(), insertAsBefore()]
    for (const name of LATER) {
      await goneOn()
      expect(await step(name)).to.deep.equal([name])
    }
    await goneOn()
    isCollecting = false
    await Promise.all(collecting)
    await until(async () => {
      await pause(EVERY_MS)
      return (await log.lag()).every(({ group, entries }) => group !== FACTS_WRITER_GROUP || entries === 0)
    })
    expect((await idsIn('visits', 'visit_id')).toSorted()).to.deep.equal(kept.visits.toSorted())
    const installs = [...kept.installs, ...kept.ofFirstRelease].toSorted()
    expect((await idsIn('installs', 'event_id')).toSorted()).to.deep.equal(installs)
    expect(kept.ofFirstRelease.length).to.be.at.least(LATER.length)
    const refused = await connection.query('SELECT count() AS rows FROM poison_records', {}, { turn: 'report' })
    expect(refused.map((row) => Number((row as { rows: unknown }).rows))).to.deep.equal([0])
    await writer.stop()
    await facts.close()
  })
})

describe('the embedded program over data of the first release', function () {
  this.timeout(120_000)
  let folder: string
  let service: TestService | null = null

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-upgraded-'))
  })
  after(async () => {
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Its tables with a row, and on its log what it had answered and not stored yet when it was stopped. */
  const leftBehind = async (visits: readonly ReturnType<typeof visitRecord>[]): Promise<void> => {
    const data = join(folder, 'data')
    const sql = join(folder, 'sql')
    await mkdir(data)
    await mkdir(sql)
    await cp(new URL(FIRST_RELEASE, SQL_FOLDER), join(sql, FIRST_RELEASE))
    const connection = await openChdb(join(data, 'chdb'))
    await migrate(connection, { folder: pathToFileURL(`${sql}/`) })
    await connection.command(`INSERT INTO installs (organization, website, event_id, resolution, received_at, retention_days)
      SELECT 'acme', '${WEBSITE}', 'stored-before', 'matched', now64(3), 395`)
    await connection.close()
    const environment = await openLmdb(join(data, 'lmdb'), { nowMs: Date.now, onFatal, minFreeBytes: 0 })
    const log = await lmdbEventLog(environment)
    for (const visit of visits) {
      await log.append('visits', [{ key: visit.visit.visitId, value: encodeRecord(visit) }], { deadlineMs: 10_000 })
    }
    await log.close()
    await environment.close()
  }

  it('accepts visits and installs as soon as it has migrated, and keeps what was stored and what was on the log', async () => {
    const before = Array.from({ length: 50 }, () => visitRecord({ website: WEBSITE, visitId: visitIdNow() }))
    await leftBehind(before)
    service = await startTestService({ folder })
    const { url, facts } = service
    const posted = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const event = eventBody()
        const visit = await post(`${url}/v1/visits`, visitBody(), TEST_ORIGIN)
        const install = await post(`${url}/v1/events`, event)
        expect([visit.status, install.status]).to.deep.equal([200, 200])
        return String(event['event_id'])
      }),
    )
    await service.drain()
    const ids = before.map(({ visit }) => visit.visitId)
    const found = await facts.run('sourcesOfVisits', { organization: 'acme', website: WEBSITE, visit_ids: ids })
    expect(found.map(({ visit_id: id }) => id).toSorted()).to.deep.equal(ids.toSorted())
    for (const id of ['stored-before', ...posted])
      expect(
        await facts.run('installByEvent', { organization: 'acme', website: WEBSITE, event_id: id }),
        id,
      ).to.have.lengthOf(1)
    const [counts] = await facts.run('counts', {})
    expect(counts).to.include({ visits: before.length + posted.length })
  })
})
