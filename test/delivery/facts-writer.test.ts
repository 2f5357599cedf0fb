/** The facts-writer role on the real log and the real engine: nothing lost, nothing twice, poison records kept apart. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { expect } from 'chai'
import { Registry } from 'prom-client'

import { restAfter, startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { FACTS_WRITER_GROUP } from '../../domain/collection/facts-lag.ts'
import { decodeRecord, encodeRecord } from '../../domain/records.ts'
import type { LogRecord, RecordTopic } from '../../domain/records.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import type { LmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import type { LmdbEnvironment } from '../../ports/shared/lmdb/environment.ts'
import {
  activationRecord,
  activityRecord,
  AROUND,
  attempt,
  deliveryRecord,
  handoffRecord,
  installRecord,
  requestRecord,
  unique,
  visitRecord,
} from '../contract/fact-samples.ts'
import { until } from '../../fixtures/until.ts'

const CHILD = fileURLToPath(new URL('./support/facts-writer-child.ts', import.meta.url))

describe('facts-writer', () => {
  let folder: string
  let environment: LmdbEnvironment
  let log: LmdbEventLog
  let facts: Facts
  let lines: { readonly level: string; readonly fields: object; readonly message: string }[]

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-writer-'))
    const connection = await openChdb(join(folder, 'facts'))
    await migrate(connection)
    facts = clickhouseFacts(connection, { nowMs: Date.now })
  })
  beforeEach(async () => {
    lines = []
    await openLog(unique('log'))
  })
  afterEach(async () => {
    await closeLog()
  })
  after(async () => {
    await facts.close()
    await rm(folder, { recursive: true })
  })

  it('makes facts of every kind of record', async () => {
    const website = unique('site')
    const organization = unique('organization')
    const visited = visitRecord({ website, organization })
    const installed = installRecord({ website, organization })
    await append('visits', visited)
    await append('activations', activationRecord({ organization, website, visitId: visited.visit.visitId }))
    await append('handoffs', handoffRecord({ organization, website, visitId: visited.visit.visitId }))
    await append('installs', installed)
    await append('requests', requestRecord({ website, organization, status: 404, code: 'not_found' }))
    await append(
      'deliveries',
      deliveryRecord({ organization, website, eventId: installed.install.eventId, attempt: attempt() }),
    )
    await append('activity', activityRecord({ website, organization }))
    await write()
    const event = { organization, website, event_id: installed.install.eventId }
    const [receipt] = await facts.run('receiptFacts', {
      organization,
      website,
      visit_ids: [visited.visit.visitId],
    })
    expect(receipt).to.include({ is_recorded: true, is_active: true })
    expect(await facts.run('installByEvent', event)).to.have.lengthOf(1)
    expect(await facts.run('deliveriesOfInstall', event)).to.have.lengthOf(1)
    expect(await facts.run('attemptsOfInstall', event)).to.have.lengthOf(1)
    expect(await facts.run('listLogs', { ...AROUND, website })).to.have.lengthOf(5)
    expect(await facts.run('listActivity', { ...AROUND, organization })).to.have.lengthOf(1)
  })

  it('shows nothing new when the whole log is written again from its start', async () => {
    const website = unique('site')
    await append('visits', ...Array.from({ length: 200 }, () => visitRecord({ website })))
    await append('installs', ...Array.from({ length: 50 }, () => installRecord({ website })))
    await write()
    const before = await facts.run('counts', {})
    const all = new Map<RecordTopic, readonly LogRecord[]>()
    for (const topic of ['visits', 'installs'] as const) {
      const entries = await log.read(topic, 0, 1_000)
      all.set(
        topic,
        entries.map((entry) => decodeRecord<LogRecord>(entry.value)),
      )
    }
    await closeLog()
    await openLog(unique('log'))
    for (const [topic, records] of all) await append(topic, ...records)
    await write()
    expect(await facts.run('counts', {})).to.deep.equal(before)
  })

  it('stores 9,999 of 10,000 rows when one is refused, and keeps that one with its place and reason', async () => {
    const website = unique('site')
    const records = Array.from({ length: 10_000 }, () => requestRecord({ website }))
    records[6_789] = requestRecord({ website, status: 70_000, userAgent: 'canary-of-a-bad-row' })
    await append('requests', ...records)
    await write()
    const [usage] = await facts.run('countLogs', { organization: 'acme', website, ...AROUND })
    expect(usage?.logs).to.equal(9_999)
    const poison = (await facts.run('listPoison', nowish())).filter((row) => row.value.includes(website))
    expect(poison).to.have.lengthOf(1)
    expect(poison[0]).to.include({
      log_topic: 'requests',
      log_offset: 6_789,
      fact_table: 'request_logs',
      reason: 'OUT_OF_RANGE',
    })
    expect(lines.map((line) => line.message)).to.include('entries could not become facts')
    expect(JSON.stringify(lines)).not.to.contain('canary')
  })

  it('keeps entries that are no records, and continues', async () => {
    const website = unique('site')
    const bad = [
      'no json',
      '{"v":0,"kind":"visit"}',
      '{"v":1,"kind":"unheard-of"}',
      '{"v":1,"kind":"visit"}',
      'null',
      '',
    ]
    const good = requestRecord({ website })
    await log.append('requests', [
      ...bad.map((value) => ({ key: website, value })),
      { key: website, value: encodeRecord(good) },
    ])
    await write()
    expect(await facts.run('listLogs', { ...AROUND, website })).to.have.lengthOf(1)
    const poison = await facts.run('listPoison', nowish())
    const undecodable = poison.filter((row) => row.reason === 'UNDECODABLE').map((row) => row.value)
    expect(undecodable).to.include.members(bad)
  })

  it('keeps the entry, and no row of it, if only one of its rows is refused by its shape', async () => {
    const website = unique('site')
    const broken = { ...visitRecord({ website }), visit: null } as unknown as LogRecord
    await append('visits', broken, visitRecord({ website }))
    await write()
    expect(await facts.run('listLogs', { ...AROUND, website })).to.have.lengthOf(1)
  })

  it('retries a batch until the engine accepts it, and reports that once', async () => {
    const website = unique('site')
    let failuresLeft = 3
    const flaky: Facts = {
      ...facts,
      startBatch: () => {
        const batch = facts.startBatch()
        return {
          get chars() {
            return batch.chars
          },
          add: (table, row) => batch.add(table, row),
          insert: async () => {
            failuresLeft -= 1
            // Once after the rows are in: nothing is known of an outcome, so the same rows come again.
            if (failuresLeft === 1) await batch.insert()
            if (failuresLeft >= 0) throw new FactsUnavailable('away')
            await batch.insert()
          },
        }
      },
    }
    await append('requests', requestRecord({ website }))
    await write(flaky)
    expect(await facts.run('listLogs', { ...AROUND, website })).to.have.lengthOf(1)
    expect(lines.map((line) => line.message)).to.deep.equal([
      'facts are not writable, retrying',
      'facts are writable again',
    ])
  })

  it('commits nothing of a batch before all of it is stored', async () => {
    const website = unique('site')
    await append('requests', requestRecord({ website }))
    let release: () => void = () => undefined
    const inserting = new Promise<void>((resolve) => (release = resolve))
    let reached: () => void = () => undefined
    const isReached = new Promise<void>((resolve) => (reached = resolve))
    const slow: Facts = {
      ...facts,
      startBatch: () => {
        const batch = facts.startBatch()
        return {
          chars: 0,
          add: (table, row) => batch.add(table, row),
          insert: async () => {
            await batch.insert()
            reached()
            await inserting
          },
        }
      },
    }
    const role = await start(slow)
    await isReached
    expect(await lagOf('requests')).to.equal(1)
    release()
    await until(async () => (await lagOf('requests')) === 0)
    await role.close()
  })

  it('makes a single row visible without waiting for a full batch', async () => {
    const role = await start(facts)
    const website = unique('site')
    await append('requests', requestRecord({ website }))
    await until(async () => (await facts.run('listLogs', { ...AROUND, website })).length === 1)
    expect(facts.health()).to.include({ isReachable: true })
    await role.close()
  })

  it('counts rows and reports its lag as metrics', async () => {
    const registry = new Registry()
    await append('visits', visitRecord({ website: unique('site') }))
    await write(facts, registry)
    const text = await registry.metrics()
    expect(text).to.contain('whence_facts_rows_total{table="visits"} 1')
    expect(text).to.contain('whence_facts_rows_total{table="request_logs"} 1')
    expect(text).to.match(/whence_facts_lag_seconds \d/)
  })

  it('leaves each row once when it is killed between insert and commit', async function () {
    this.timeout(60_000)
    const website = unique('site')
    await append('visits', ...Array.from({ length: 300 }, () => visitRecord({ website })))
    await closeLog()
    await facts.close()
    const logFolder = join(folder, lastLog)
    const child = spawn(process.execPath, [CHILD, logFolder, join(folder, 'facts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    for await (const line of createInterface({ input: child.stdout })) if (line === 'inserted') break
    child.kill('SIGKILL')
    await exited
    const connection = await openChdb(join(folder, 'facts'))
    facts = clickhouseFacts(connection, { nowMs: Date.now })
    const inserted = await facts.run('countLogs', { organization: 'acme', website, ...AROUND })
    await openLog(lastLog)
    expect(await lagOf('visits')).to.equal(300)
    await write()
    const again = await facts.run('countLogs', { organization: 'acme', website, ...AROUND })
    expect([inserted[0]?.logs, again[0]?.logs]).to.deep.equal([300, 300])
  })

  describe('rest', () => {
    const options = { maxEntries: 10_000, politeness: 2, gatherMs: 400, busyGatherMs: 1_600, maxLagMs: 10_000 }
    const one = { entries: 1, sinceMs: 1_000, tookMs: 100, lagMs: 0, utilization: 0.9 }
    it('is none on an idle system', () => {
      expect(restAfter({ ...one, lagMs: 50, utilization: 0.2 }, options)).to.equal(0)
    })
    it('is in proportion to the work while the event loop is busy', () => {
      expect(restAfter(one, options)).to.equal(200)
    })
    it('is taken from the share of time on at which the event loop is busy', () => {
      expect(restAfter({ ...one, utilization: 0.6 }, options)).to.equal(200)
    })
    it('shrinks with the lag and ends when the lag is at its bound', () => {
      expect(restAfter({ ...one, lagMs: 5_000 }, options)).to.equal(100)
      expect(restAfter({ ...one, lagMs: 10_000 }, options)).to.equal(0)
    })
    it('is bounded', () => {
      expect(restAfter({ ...one, tookMs: 60_000, utilization: 1 }, options)).to.equal(2_000)
    })
    it('lets entries gather under load, in a process of its own too, and longer if the event loop is busy', () => {
      const quiet = { ...one, tookMs: 10, utilization: 0 }
      const rests = [99, 100, 4_999].map((entries) => restAfter({ ...quiet, entries }, options))
      expect(rests).to.deep.equal([0, 400, 400])
      expect(restAfter({ ...quiet, entries: 4_000, utilization: 0.9 }, options)).to.equal(1_600)
      expect(restAfter({ ...quiet, entries: 100, lagMs: 10_000 }, options)).to.equal(0)
    })
    it('ends when about enough for a batch is there, and is none after a full one, behind which more may wait', () => {
      const quiet = { ...one, tookMs: 100, utilization: 0 }
      // 8,000 make a batch that is large enough: at 32 in a ms they are there 250 ms after the last batch was read.
      expect(restAfter({ ...quiet, entries: 9_600, sinceMs: 300 }, options)).to.equal(150)
      expect(restAfter({ ...quiet, entries: 8_000, sinceMs: 50 }, options)).to.equal(0)
      expect(restAfter({ ...quiet, entries: 10_000 }, options)).to.equal(0)
    })
    it('gathers as long as it may after the first batch, whose time is not known', () => {
      expect(restAfter({ ...one, entries: 500, sinceMs: Infinity, utilization: 0 }, options)).to.equal(400)
    })
    it('is none for a process that does nothing else', () => {
      expect(restAfter({ ...one, utilization: 1 }, { ...options, politeness: 0 })).to.equal(0)
    })
  })

  let lastLog: string

  async function openLog(name: string): Promise<void> {
    lastLog = name
    const onFatal = (error: Error): void => {
      throw error
    }
    environment = await openLmdb(join(folder, name), { nowMs: Date.now, onFatal, minFreeBytes: 0 })
    log = await lmdbEventLog(environment)
  }

  async function closeLog(): Promise<void> {
    await log.close()
    await environment.close()
  }

  async function append(topic: RecordTopic, ...records: readonly LogRecord[]): Promise<void> {
    const entries = records.map((record, index) => ({ key: `key-${index}`, value: encodeRecord(record) }))
    await log.append(topic, entries, { deadlineMs: 10_000 })
  }

  function start(into: Facts, registry?: Registry): Promise<{ close(): Promise<void> }> {
    const keep =
      (level: string) =>
      (fields: object | string, message = ''): void => {
        lines.push({ level, fields: typeof fields === 'string' ? {} : fields, message })
      }
    const logger = { ...SILENT_LOGGER, info: keep('info'), warn: keep('warn'), error: keep('error') }
    const deps = { eventLog: log, facts: into, logger, nowMs: Date.now, options: { lingerMs: 5 } }
    return startFactsWriter(registry === undefined ? deps : { ...deps, registry })
  }

  /** Runs the role until it has nothing left to write. */
  async function write(into: Facts = facts, registry?: Registry): Promise<void> {
    const role = await start(into, registry)
    await until(async () => (await log.lag()).every((lag) => lag.group !== FACTS_WRITER_GROUP || lag.entries === 0))
    await role.close()
  }

  async function lagOf(topic: RecordTopic): Promise<number> {
    const lags = await log.lag()
    return lags.find((lag) => lag.group === FACTS_WRITER_GROUP && lag.topic === topic)?.entries ?? 0
  }
})

function nowish() {
  return { since_ms: Date.now() - 600_000, until_ms: Date.now() + 600_000, limit: 1_000 }
}
