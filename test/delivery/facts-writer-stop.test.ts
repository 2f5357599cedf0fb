/** The facts-writer and a ClickHouse that accepts connections and answers nothing: it stops, says so, and loses nothing. */

import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { startFactsWriter } from '../../delivery/facts-writer/facts-writer.ts'
import { encodeRecord, RECORD_TOPICS } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import { FactsUnavailable, type Facts } from '../../ports/facts/facts.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { visitRecord } from '../contract/fact-samples.ts'
import { MemoryFacts } from './support/memory-facts.ts'
import { listenInSilence, type SilentServer } from '../../fixtures/engines/silent.ts'

describe('the facts-writer', () => {
  it('writes what is on the log before it stops, even if it would have gathered more', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'whence-writer-end-'))
    const environment = await openLmdb(folder, { nowMs: Date.now, onFatal: (error) => void console.error(error) })
    const log = await lmdbEventLog(environment)
    const memory = new MemoryFacts()
    const quiet = SILENT_LOGGER
    // What lingers for so long is read only because more of a batch has come, or because it is time.
    const options = { lingerMs: 1_500 }
    const role = await startFactsWriter({ eventLog: log, facts: memory.facts, logger: quiet, nowMs: Date.now, options })
    const visits = Array.from({ length: 12 }, () => ({ key: 'k', value: encodeRecord(visitRecord()) }))
    await log.append('visits', visits)
    await role.close()
    expect(memory.rows.get('visits')).to.have.length(12)
    expect((await log.lag()).map(({ entries }) => entries)).to.satisfy((all: readonly number[]) =>
      all.every((one) => one === 0),
    )
    await log.close()
    await environment.close()
    await rm(folder, { recursive: true, force: true })
  })
})

describe('a log that is away', () => {
  it('does not keep the facts-writer from stopping', async () => {
    const never = (): Promise<never> => new Promise(() => undefined)
    const stopped: string[] = []
    const consume = async (topic: string) => ({ close: async () => void stopped.push(topic) })
    const eventLog = { consume, progress: never } as unknown as EventLog
    const quiet = SILENT_LOGGER
    const { facts } = new MemoryFacts()
    const role = await startFactsWriter({ eventLog, facts, logger: quiet, nowMs: Date.now })
    await role.close()
    expect(stopped).to.have.length(RECORD_TOPICS.length)
  })
})

describe('a ClickHouse that accepts connections and never answers', function () {
  this.timeout(30_000)
  let server: SilentServer
  let url: string

  before(async () => {
    server = await listenInSilence()
    url = `http://${server.address}/whence`
  })
  after(() => server.close())

  /** The role itself gives up what is in hand, before its log would. */
  async function stopsWithOneBatchLeft(facts: Facts, hasBegun: () => boolean): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'whence-writer-stop-'))
    const environment = await openLmdb(folder, { nowMs: Date.now, onFatal: (error) => void console.error(error) })
    const log = await lmdbEventLog(environment, { pace: { inHandMs: 600_000 } })
    const quiet = SILENT_LOGGER
    const role = await startFactsWriter({ eventLog: log, facts, logger: quiet, nowMs: Date.now })
    const record = visitRecord()
    await log.append('visits', [{ key: 'k', value: encodeRecord(record) }])
    await until(hasBegun)
    await role.close()
    const lag = await log.lag()
    expect(lag.find(({ topic }) => topic === 'visits')?.entries).to.equal(1)
    await log.close()
    await environment.close()
    await rm(folder, { recursive: true, force: true })
  }

  it('does not keep the facts-writer from stopping, and its batch is delivered again', async () => {
    const facts = clickhouseFacts(openClickHouse(url), { nowMs: Date.now })
    await stopsWithOneBatchLeft(facts, () => server.connections() > 0)
    await facts.close()
  })

  it('does not keep it from stopping if only the insert hangs, which has no short deadline of its own', async () => {
    const slow = openClickHouse(url, { requestTimeoutMs: 600_000 })
    let inserts = 0
    // The writer asks what has been erased before it inserts, and that question has a short deadline.
    const connection: typeof slow = {
      ...slow,
      query: () => Promise.resolve([]),
      insert: (...all) => (inserts++, slow.insert(...all)),
    }
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    await stopsWithOneBatchLeft(facts, () => inserts > 0)
    await facts.close()
  })

  it('has its statement end when the connection is closed', async () => {
    const connection = openClickHouse(url)
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    const asked = connection.query('SELECT 1', {}, { turn: 'report' }).catch((error: unknown) => error)
    await facts.close()
    expect(await asked).to.be.instanceOf(Error)
  })

  it('is said with the time that it was given, and without a code', async () => {
    const facts = clickhouseFacts(openClickHouse(url, { requestTimeoutMs: 200 }), { nowMs: Date.now })
    const period = { since_ms: 0, until_ms: 1, limit: 1 }
    const failure = await facts.run('listDeliveries', { ...period, status: 'pending' }).catch((error: unknown) => error)
    await facts.close()
    expect(failure).to.be.instanceOf(FactsUnavailable)
    expect(String(failure)).to.match(/did not answer in 0\.2 seconds$/)
  })
})
