/**
 * Facts over HTTP: the contract with the real client, and what becomes of rows when the server dies, hangs or is unreachable.
 * What answers is our fixture over the embedded engine (`fixtures/engines/clickhouse-http`), not a ClickHouse server.
 */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { expect } from 'chai'

import { until } from '../../fixtures/until.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { FactRow, Facts } from '../../ports/facts/facts.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { requireEveryInsert } from '../../ports/facts/engine/self-test.ts'
import { startClickHouse } from '../../fixtures/engines/clickhouse-server.ts'
import type { ClickHouseServer, ClickHouseServerOptions } from '../../fixtures/engines/clickhouse-server.ts'
import { rowsOf, unique, visitRecord } from './fact-samples.ts'
import { factsContract } from './facts.contract.ts'
import { logsContract } from './logs.contract.ts'
import { streamsContract } from './streams.contract.ts'

const START_MS = 60_000
/** Shorter than the real one, so that a server that hangs is noticed within a test. */
const TIMEOUT_MS = 1_500

const open = (url: string): Facts => clickhouseFacts(openClickHouse(url), { nowMs: Date.now })

/** A server with tables. */
async function startServer(options: ClickHouseServerOptions = {}): Promise<ClickHouseServer> {
  const server = await startClickHouse(options)
  const connection = openClickHouse(server.url)
  await migrate(connection)
  await connection.close()
  return server
}

describe('ClickHouse over HTTP', function () {
  // Every statement here is a request to a process that runs them one by one.
  this.timeout(START_MS)
  factsContract('over HTTP', async () => {
    const server = await startServer({ user: 'writer', password: 'a secret:with@signs', database: 'whence' })
    const admin = openClickHouse(server.url)
    let facts = open(server.url)
    return {
      get facts() {
        return facts
      },
      reopen: async () => {
        await facts.close()
        facts = open(server.url)
      },
      merge: (table) => admin.command(`OPTIMIZE TABLE ${table} FINAL`),
      close: async () => {
        await Promise.all([facts.close(), admin.close()])
        await server.stop()
      },
    }
  })
})

describe('Facts over HTTP', function () {
  this.timeout(START_MS)
  let server: ClickHouseServer
  let facts: Facts

  before(async () => {
    server = await startServer({ password: 'right' })
  })
  after(() => server.stop())
  beforeEach(() => {
    facts = clickhouseFacts(openClickHouse(server.url, { requestTimeoutMs: TIMEOUT_MS }), { nowMs: Date.now })
  })
  afterEach(() => facts.close())

  describe('show of Logs', () => logsContract(() => facts))
  describe('show of the backlog of log streams, which', () => streamsContract(() => facts))

  it('are unavailable with a wrong password, and say neither the password nor the address', async () => {
    const stranger = open(server.url.replace('right', 'wr0ng'))
    const error = await failure(stranger.run('counts', {}))
    await stranger.close()
    expect(error).to.be.instanceOf(FactsUnavailable)
    expect(error.message).to.contain('516')
    expect(`${error.stack}${JSON.stringify(error)}${String(error.cause)}`).not.to.match(/wr0ng|127\.0\.0\.1/)
  })

  it('pass the trial that whencectl migrate makes of a server', async () => {
    const connection = openClickHouse(server.url)
    await requireEveryInsert(connection)
    await connection.close()
    expect(facts.health().isReachable).to.equal(true)
  })

  it('are read, and never changed, over a connection that reads only', async () => {
    const reader = clickhouseFacts(openClickHouse(server.url, { isReadOnly: true }), { nowMs: Date.now })
    const organization = unique('read-only')
    expect(await countVisits(reader, organization)).to.equal(0)
    const error = await failure(reader.insert('visits', visits(organization, 1)))
    await reader.close()
    expect(error.message).to.match(/164/)
    expect(await countVisits(facts, organization)).to.equal(0)
  })

  it('end with the caller that has gone, and are no less reachable for it', async () => {
    await facts.run('counts', {})
    const caller = new AbortController()
    const gone = new Error('gone')
    server.pause()
    const asked = failure(facts.run('counts', {}, { signal: caller.signal }))
    caller.abort(gone)
    expect(await asked).to.equal(gone)
    server.resume()
    expect(facts.health().isReachable).to.equal(true)
  })

  it('are stored once each when the server is killed in mid-insert and everything is inserted again', async () => {
    const organization = unique('killed')
    const rows = visits(organization, 20_000)
    let isAnswered = false
    const first = failure(facts.insert('visits', rows)).finally(() => (isAnswered = true))
    const inbox = join(server.folder, 'data', 'inbox')
    await until(async () => isAnswered || (await readdir(inbox)).length > 0, { everyMs: 0 })
    await server.kill()
    expect(await first).to.be.instanceOf(FactsUnavailable)
    expect(facts.health().isReachable).to.equal(false)
    await server.restart()
    const patient = open(server.url)
    await patient.insert('visits', rows)
    expect(await countVisits(patient, organization)).to.equal(rows.length)
    await patient.close()
  })

  it('are unavailable while the server hangs, and stored once each when that insert lands late', async () => {
    const organization = unique('frozen')
    const rows = visits(organization, 10)
    await facts.run('counts', {})
    server.pause()
    const failed = await Promise.all([failure(facts.insert('visits', rows)), failure(facts.run('counts', {}))])
    server.resume()
    expect(failed.every((error) => error instanceof FactsUnavailable)).to.equal(true)
    const patient = open(server.url)
    await patient.insert('visits', rows)
    expect(await countVisits(patient, organization)).to.equal(rows.length)
    await patient.close()
  })

  it('are unavailable, and not refused, while no server answers, and there again with the server', async () => {
    const organization = unique('away')
    const rows = visits(organization, 10)
    expect(await server.end()).to.equal(0)
    const failed = await Promise.all([failure(facts.insert('visits', rows)), failure(facts.run('counts', {}))])
    expect(failed.every((error) => error instanceof FactsUnavailable)).to.equal(true)
    expect(facts.health().isReachable).to.equal(false)
    await server.restart()
    await facts.insert('visits', rows)
    expect(await countVisits(facts, organization)).to.equal(rows.length)
    expect(facts.health().isReachable).to.equal(true)
  })
})

describe('Facts over HTTPS', function () {
  this.timeout(START_MS)

  it('are there for who trusts the certificate, and unavailable for others', async () => {
    const server = await startServer({ isTls: true, password: 'right' })
    const trusting = open(server.url)
    const others = [
      open(server.url.replace(/\?.*/, '')),
      open(server.url.replace('https:', 'http:').replace(/\?.*/, '')),
    ]
    try {
      expect(await trusting.run('counts', {})).to.have.lengthOf(1)
      const errors = await Promise.all(others.map((facts) => failure(facts.run('counts', {}))))
      expect(errors.every((error) => error instanceof FactsUnavailable)).to.equal(true)
    } finally {
      await Promise.all([trusting, ...others].map((facts) => facts.close()))
      await server.stop()
    }
  })
})

function visits(organization: string, count: number): readonly FactRow[] {
  const records = Array.from({ length: count }, () => visitRecord({ organization, website: organization }))
  return rowsOf(records).get('visits') ?? []
}

async function failure(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.catch((error: unknown) => error)
  return outcome instanceof Error ? outcome : new Error('it did not fail')
}

async function countVisits(facts: Facts, organization: string): Promise<number> {
  const [row] = await facts.run('usage', { organization, since_ms: 0, until_ms: Date.now() + 86_400_000 })
  return row?.visits ?? 0
}
