/**
 * One person's data, erased while the service runs: searched for in every column of every table, in the files of the copied
 * facts and in what the tools print, and again after everything that could bring it back.
 */

import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { NO_BACKLOG } from '../../delivery/support/memory-facts.ts'
import { deliveryTable } from '../../../dashboard/exports/deliveries.ts'
import { installTable } from '../../../dashboard/exports/installs.ts'
import { exportLogs } from '../../../dashboard/exports/logs.ts'
import { exportTable } from '../../../dashboard/exports/table.ts'
import { visitTable } from '../../../dashboard/exports/visits.ts'
import type { OrganizationFacts } from '../../../dashboard/reads/scope.ts'
import { createErasures } from '../../../delivery/facts-writer/erasures.ts'
import { writeBatch } from '../../../delivery/facts-writer/fact-batch.ts'
import { createHourMarks } from '../../../delivery/counting/hour-marks.ts'
import { visitIdIn } from '../../../domain/receipt.ts'
import { RECORD_TOPICS } from '../../../domain/records.ts'
import { startProgram } from '../../../fixtures/service/programs.ts'
import { activeReceipt, eventBody, newId, post } from '../../../fixtures/service/requests.ts'
import { MANIFESTS, startTestService, TEST_ORIGIN, type TestService } from '../../../fixtures/service/service.ts'
import { until } from '../../../fixtures/until.ts'
import { lmdbEventLog } from '../../../ports/event-log/lmdb/lmdb.ts'
import { clickhouseFacts } from '../../../ports/facts/clickhouse.ts'
import { FACT_TABLES } from '../../../ports/facts/columns.ts'
import { openChdb } from '../../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../../ports/facts/engine/connection.ts'
import { openLmdb } from '../../../ports/shared/lmdb/environment.ts'

const WEBSITE = 'acme-dev'

interface Person {
  readonly receipt: string
  readonly visitId: string
  readonly eventId: string
  readonly installationId: string
  /** Everything by which this person could be found. */
  readonly traces: readonly string[]
}

describe("a person's data", function () {
  this.timeout(240_000)
  let folder: string
  let service: TestService | null = null
  let gone: Person = undefined as never
  let kept: Person = undefined as never
  const at = (path: string): string => join(folder, path)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-erase-'))
    for (const name of ['now', 'before', 'after']) {
      await mkdir(at(`${name}/manifests`), { recursive: true })
      for (const [file, text] of Object.entries(MANIFESTS)) await writeFile(at(`${name}/manifests/${file}`), text)
    }
    service = await startTestService({ folder: at('now') })
    gone = await person(service.url, 'gone')
    kept = await person(service.url, 'kept')
    await service.drain('facts-writer')
  })
  after(async () => {
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const whence = async (...words: string[]): Promise<{ code: number | string; said: string }> => {
    const program = startProgram(words, { env: {}, isHeard: true })
    program.ready.catch(() => undefined)
    const code = await program.ended
    return { code, said: program.stdout() + program.stderr() }
  }
  const erase = (...words: string[]) =>
    whence('erase', '--website', WEBSITE, '--installation', gone.installationId, ...words, '--data', at('now/data'))

  it('is shown first, and erased only after a yes', async () => {
    expect((await whence('backup', at('older'), '--data', at('now/data'))).code).to.equal(0)
    const shown = await erase('--dry-run')
    expect(shown.code, shown.said).to.equal(0)
    expect(shown.said).to.contain('acme-dev of acme: 1 installations, 2 visits, 1 install events')
    expect(shown.said).to.match(/^ {2}visits +2$/m)
    const unasked = await erase()
    expect([unasked.code, unasked.said]).to.deep.equal([
      1,
      `${shown.said}whencectl erase: say --yes to erase it without a question\nNothing was erased.\n`,
    ])
    const nobody = await whence('erase', '--website', WEBSITE, '--receipt', 'no receipt', '--data', at('now/data'))
    expect([nobody.code, nobody.said.slice(0, 23)]).to.deep.equal([2, 'whencectl erase: --visi'])
    expect(traces(await toolOutput(), gone)).not.to.deep.equal([])
  })

  it('is in no answer of the tools afterwards, and the activity does not say whose it was', async () => {
    const erased = await erase('--yes')
    expect(erased.code, erased.said).to.equal(0)
    expect(traces(erased.said, gone)).to.deep.equal([])
    await service?.drain('facts-writer')
    const said = await toolOutput()
    expect(traces(said, gone)).to.deep.equal([])
    expect(traces(said, kept)).to.include.members([kept.eventId, kept.installationId])
    expect(said).to.contain('data_erased')
    // The hour is counted again, a moment later.
    const report = async (): Promise<string> =>
      (await whence('report', '--by', 'campaign', '--data', at('now/data'))).said
    await until(async () => traces(await report(), kept).includes('campaign-of-kept'))
    expect(traces(await report(), gone)).to.deep.equal([])
  })

  it('is not written when the same person comes again', async () => {
    const { receipt, installationId } = gone
    await post(`${service?.url}/v1/events`, eventBody({ installation_id: installationId, receipts: [receipt] }))
    await post(`${service?.url}/v1/visits/activate`, { project: WEBSITE, receipt }, TEST_ORIGIN)
    await service?.drain('facts-writer')
    expect(traces(await toolOutput(), gone)).to.deep.equal([])
  })

  it('is in no byte of a backup made after, and not in what is restored from it', async () => {
    expect((await whence('backup', at('newer'), '--data', at('now/data'))).code).to.equal(0)
    await service?.stop()
    service = null
    expect(traces(await filesBelow(at('newer/facts')), gone)).to.deep.equal([])
    // The search does work: it finds the same person in the earlier copy.
    expect(traces(await filesBelow(at('older/facts')), gone)).not.to.deep.equal([])
    expect((await whence('restore', at('newer'), '--data', at('after/data'))).code).to.equal(0)
    const rows = await withFacts('after', allRows)
    expect([traces(rows, gone), traces(rows, kept)]).to.deep.equal([[], [...kept.traces].sort()])
    const files = await withFacts('after', downloads)
    expect(traces(files, gone)).to.deep.equal([])
    expect(traces(files, kept)).to.include.members([kept.eventId, kept.installationId, 'campaign-of-kept'])
  })

  it('does not come back when the log is written into the facts again', async () => {
    const rows = await withFacts('after', async (connection) => {
      await writeLogAgain(connection)
      return allRows(connection)
    })
    expect([traces(rows, gone), traces(rows, kept)]).to.deep.equal([[], [...kept.traces].sort()])
  })

  it('does not come back with an older backup', async () => {
    const words = ['restore', at('older'), '--data', at('before/data'), '--erasures'] as const
    const missing = await whence(...words, at('nowhere'))
    expect([missing.code, missing.said]).to.deep.equal([1, `whencectl restore: ${at('nowhere')} does not exist\n`])
    const { code, said } = await whence(...words, at('now/data'))
    expect(code, said).to.equal(0)
    service = await startTestService({ folder: at('before') })
    await service.drain('facts-writer')
    await service.stop()
    service = null
    const rows = await withFacts('before', allRows)
    expect([traces(rows, gone), traces(rows, kept)]).to.deep.equal([[], [...kept.traces].sort()])
    expect(await readFile(at('before/data/erasures'), 'utf8')).to.equal(await readFile(at('now/data/erasures'), 'utf8'))
  })

  it('goes with everything of its organisation, and no log or backup brings that back', async () => {
    const at2 = ['--data', at('after/data')] as const
    const shown = await whence('erase', '--organization', 'acme', '--dry-run', ...at2)
    expect(shown.code, shown.said).to.equal(0)
    expect(shown.said)
      .to.match(/^acme, everything about it\n/)
      .and.match(/^ {2}visits +4$/m)
    const mixed = await whence('erase', '--organization', 'acme', '--visit', kept.visitId, ...at2)
    expect(mixed.code).to.equal(2)
    const erased = await whence('erase', '--organization', 'acme', '--yes', ...at2)
    expect(erased.code, erased.said).to.equal(0)
    const rows = await withFacts('after', async (connection) => {
      await writeLogAgain(connection)
      return allRows(connection)
    })
    expect(traces(rows, kept)).to.deep.equal([])
    const words = ['restore', at('newer'), '--data', at('empty/data'), '--erasures', at('after/data')]
    const restored = await whence(...words)
    expect(restored.code, restored.said).to.equal(0)
    expect(traces(await withFacts('empty', allRows), kept)).to.deep.equal([])
  })

  async function toolOutput(): Promise<string> {
    const lists = [['logs'], ['installs'], ['activity']]
    const outputs = await Promise.all(lists.map((list) => whence(...list, '--json', '--data', at('now/data'))))
    return outputs.map(({ said }) => said).join('\n')
  }

  async function withFacts<T>(name: string, use: (connection: FactsConnection) => Promise<T>): Promise<T> {
    const connection = await openChdb(at(`${name}/data/chdb`))
    try {
      return await use(connection)
    } finally {
      await connection.close()
    }
  }

  /** As after the positions of the facts-writer are lost. */
  async function writeLogAgain(connection: FactsConnection): Promise<void> {
    const environment = await openLmdb(at('after/data/lmdb'), {
      onFatal: (error) => expect.fail(error.message),
      nowMs: Date.now,
    })
    const log = await lmdbEventLog(environment)
    const facts = clickhouseFacts(connection, { nowMs: Date.now })
    const tools = {
      nowMs: Date.now,
      marks: createHourMarks('again', Date.now),
      erasures: createErasures(facts),
      backlog: NO_BACKLOG,
    }
    let written = 0
    for (const topic of RECORD_TOPICS) {
      const entries = (await log.read(topic, 0, 1_000)).map((entry) => ({ ...entry, appendedAtMs: 0 }))
      expect((await writeBatch(facts, { topic, partition: 0, entries }, tools)).done).to.equal(entries.length)
      written += entries.length
    }
    expect(written).to.be.greaterThan(8)
    await log.close()
    await environment.close()
  }
})

/** Two visits of a page, of which the second replaces the first, and an install that proves the second. */
async function person(url: string, name: string): Promise<Person> {
  const page = `${TEST_ORIGIN}/install?who=page-of-${name}`
  const client = `12345.${name}`
  const own = {
    page_url: page,
    identities: { ga4: { 'G-TEST000001': { client_id: client, session_id: '1700000000' } } },
    source: { referrer: '', utm: { source: 'mail', campaign: `campaign-of-${name}` }, landed_at: Date.now() },
  }
  const first = await activeReceipt(url, own)
  const receipt = await activeReceipt(url, { ...own, previous_receipt: first })
  const eventId = newId()
  const installationId = newId()
  const event = eventBody({ event_id: eventId, installation_id: installationId, receipts: [receipt] })
  const answer = await post(`${url}/v1/events`, event)
  if (answer.body['resolution'] !== 'matched') throw new Error(answer.text)
  const visitId = visitIdIn(receipt) ?? ''
  const firstId = visitIdIn(first) ?? ''
  const found = [visitId, firstId, eventId, installationId, `page-of-${name}`, `campaign-of-${name}`]
  return { receipt, visitId, eventId, installationId, traces: found }
}

/** The names of a person that occur in a text. */
function traces(text: string, { traces: wanted }: Person): readonly string[] {
  return wanted.filter((trace) => text.includes(trace)).sort()
}

/** All files below a folder, byte by byte. */
async function filesBelow(root: string): Promise<string> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  expect(files.length).to.be.greaterThan(10)
  return (await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))).join('\n')
}

/** The downloads of the dashboard: all visits, installs and deliveries as CSV, all Logs with their bodies. */
async function downloads(connection: FactsConnection): Promise<string> {
  const facts = clickhouseFacts(connection, { nowMs: Date.now })
  const scope = { organization: 'acme', websites: [WEBSITE] }
  const run: OrganizationFacts['run'] = (query, params) => facts.run(query, { ...params, ...scope } as never)
  const reads = {
    organization: { id: 'acme', timeZone: 'UTC' },
    websites: [{ id: WEBSITE }],
    run,
  } as unknown as OrganizationFacts
  const sinceMs = Date.now() - 3_600_000
  const beforeMs = Date.now() + 3_600_000
  const everything = { sinceMs, from: { beforeMs, beforeId: '' } }
  const common = { reads, mayGoOn: () => Promise.resolve(true), onRows: () => undefined }
  const question = { ...everything, filters: { requests: {}, attempts: {} }, limit: 0, hasBodies: true }
  const cursors = { write: () => '', read: () => null }
  const clock = { elapsedMs: () => performance.now() }
  let text = ''
  const asked = { query: { since: sinceMs, until: beforeMs }, nowMs: Date.now(), filters: [] }
  const deliveries = deliveryTable(reads, asked)
  if ('code' in deliveries) return expect.fail(deliveries.code)
  const tables = [
    exportTable(installTable(reads, asked, clock), { ...common, hasMark: false }),
    exportTable(visitTable(reads, asked, clock), { ...common, hasMark: false }),
    exportTable(deliveries, { ...common, hasMark: false }),
  ]
  for (const table of tables) for await (const part of table) text += part
  for await (const part of exportLogs(common, { question, format: 'ndjson', cursors, clock })) text += part
  return text
}

/** Every column of every row, including rows that a later one has replaced. */
async function allRows(connection: FactsConnection): Promise<string> {
  let text = ''
  for (const table of FACT_TABLES)
    text += JSON.stringify(await connection.query(`SELECT * FROM ${table} LIMIT 100000`, {}, { turn: 'report' }))
  return text
}
