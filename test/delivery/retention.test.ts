/** A website that keeps less than before: what is older is hidden at once from whoever reads, and deleted soon after. */

import { expect } from 'chai'
import { deleteOlder } from '../../delivery/retention.ts'
import { DIMENSIONS } from '../../domain/figures/cells.ts'
import { recordOf } from '../../domain/typed-keys.ts'
import type { Catalog } from '../../domain/catalog.ts'
import { visitIdTime } from '../../domain/receipt.ts'
import { KEPT_TABLES, keptClause, type KeptWebsite } from '../../ports/facts/erasure/kept.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import {
  activationRecord,
  decisionRecord,
  deliveryRecord,
  handoffRecord,
  installRecord,
  visitRecord,
} from '../contract/fact-samples.ts'
import { spendRecords } from '../contract/spend-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { bareCatalog } from '../api/support/bare-api.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2040, 10, 27, 12)
const AGES_DAYS = [1, 29, 31, 45]

describe('a shorter retention', () => {
  let facts: TestFacts
  before(async () => {
    facts = await openTestFacts()
  })
  after(() => facts.close())
  beforeEach(async () => {
    for (const table of KEPT_TABLES) await facts.connection.command(`TRUNCATE TABLE ${table}`)
    for (const website of ['acme-dev', "it's"])
      await storeCounted(
        facts,
        AGES_DAYS.flatMap((days) => recordsOf(website, days)),
        () => NOW_MS,
      )
    await facts.insert(
      'website_hours',
      AGES_DAYS.map((days) => hourRow(NOW_MS - days * DAY_MS)),
    )
    await facts.insert(
      'visit_hours',
      AGES_DAYS.map((days) => visitHourRow(NOW_MS - days * DAY_MS)),
    )
  })

  const idAt = (ms: number): string => `00${visitIdTime(ms)}`.padEnd(32, '0')
  const recordsOf = (website: string, days: number) => {
    const atMs = NOW_MS - days * DAY_MS
    const visitId = idAt(atMs)
    const of = { website, organization: 'acme' }
    const eventId = `event-of-${days}`
    const install = installRecord({ ...of, eventId, receivedAtMs: atMs, visitId, visitIssuedAtMs: atMs })
    return [
      visitRecord({ ...of, visitId, issuedAtMs: atMs }),
      activationRecord({
        ...of,
        visitId,
        issuedAtMs: atMs,
        activatedAtMs: atMs,
        revokedVisitId: null,
        revokedIssuedAtMs: null,
      }),
      handoffRecord({ ...of, visitId, issuedAtMs: atMs, askedAtMs: atMs, visit: null }),
      install,
      decisionRecord(install),
      ...spendRecords({ ...of, atMs, rows: [[new Date(atMs).toISOString().slice(0, 10), 'google', 'launch', 1]] }),
      deliveryRecord({ ...of, eventId, ...(days === 45 ? { atMs } : { installReceivedAtMs: atMs, atMs: NOW_MS }) }),
    ]
  }
  const hourRow = (hour: number) => {
    const none = recordOf(DIMENSIONS, () => [])
    return {
      organization: 'acme',
      website: 'acme-dev',
      hour,
      marks_read: [],
      ...none,
      retention_days: 395,
      row_version: 1,
    }
  }
  const visitHourRow = (began: number) => ({
    organization: 'acme',
    website: 'acme-dev',
    began,
    sitting: 'a',
    hour: began + 3_600_000,
    is_gone: false,
    pages: [],
    is_activated: false,
    is_copied: false,
    is_started: false,
    has_first_run: false,
    installed_at: null,
    agents: [],
    retention_days: 395,
    row_version: 1,
  })
  /** Tables that have rows of no website but the first. */
  const FIGURES = ['website_hours', 'visit_hours']
  const ofRecords = KEPT_TABLES.filter((table) => !FIGURES.includes(table))
  /** Rows of each table, as a statement with this clause counts them. */
  const counts = async (website: string, clause = ''): Promise<Record<string, number>> => {
    const tables = website === 'acme-dev' ? KEPT_TABLES : ofRecords
    const counted = tables.map(async (table) => {
      const sql = `SELECT count() AS rows FROM ${table} FINAL WHERE website = {website:String} SETTINGS max_threads = 1${clause}`
      const [row] = (await facts.connection.query(sql, { website }, { turn: 'report' })) as readonly { rows: number }[]
      return [table, Number(row?.rows)] as const
    })
    return Object.fromEntries(await Promise.all(counted))
  }
  const all = (rows: number, tables: readonly string[] = KEPT_TABLES) =>
    Object.fromEntries(tables.map((table) => [table, rows]))
  const kept: readonly KeptWebsite[] = [{ website: 'acme-dev', sinceMs: NOW_MS - 30 * DAY_MS }]

  it('hides what is older in every table that is kept for the website, and leaves other websites alone', async () => {
    expect(await counts('acme-dev')).to.deep.equal(all(4))
    expect(await counts('acme-dev', keptClause(kept, 0))).to.deep.equal(all(2))
    expect(await counts("it's", keptClause(kept, 0))).to.deep.equal(all(4, ofRecords))
    const both = [...kept, { website: "it's", sinceMs: NOW_MS - 40 * DAY_MS }]
    expect(await counts("it's", keptClause(both, 0))).to.deep.equal(all(3, ofRecords))
    expect(await counts('acme-dev', keptClause(both, 0))).to.deep.equal(all(2))
  })

  it('covers every table whose rows carry the retention of their website', async () => {
    const sql =
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND create_table_query LIKE '%retention_days%'"
    const rows = (await facts.connection.query(sql, {}, { turn: 'report' })) as readonly { name: string }[]
    const ofLogs = ['request_logs', 'attempts', 'activity', 'webhook_attempts', 'poison_records']
    const ofReplays = ['decision_replays', 'decision_replay_results']
    // They hold numbers of days, and are kept as long as any figures.
    const ofOrganizations = ['alerts']
    const names = rows
      .map(({ name }) => name)
      .filter((name) => ![...ofLogs, ...ofReplays, ...ofOrganizations].includes(name))
    expect(names.toSorted()).to.deep.equal(KEPT_TABLES.toSorted())
  })

  it('hides it from queries, and costs those nothing that ask for less', async () => {
    const asked = { organization: 'acme', websites: ['acme-dev'], until_ms: NOW_MS + 1 }
    const seen = async (days: number): Promise<number> => {
      const window = { ...asked, since_ms: NOW_MS - days * DAY_MS }
      const [row] = await facts.run('visitsWithin', window, { kept })
      return Number(row?.visits)
    }
    expect([await seen(60), await seen(30), await seen(2)]).to.deep.equal([2, 2, 1])
    expect(keptClause(kept, NOW_MS - 30 * DAY_MS)).to.equal('')
    const event = { organization: 'acme', website: 'acme-dev', event_id: 'event-of-45' }
    expect(await facts.run('installByEvent', event)).to.have.length(1)
    expect(await facts.run('installByEvent', event, { kept })).to.have.length(0)
  })

  it('is deleted in the background, once, and only for websites that are there', async () => {
    const catalog = (retentionDays: number): Catalog => {
      const bare = bareCatalog()
      const [[id, website] = ['', undefined]] = bare.websites
      return { ...bare, websites: new Map(website === undefined ? [] : [[id, { ...website, retentionDays }]]) }
    }
    const told: unknown[] = []
    const logger = { ...SILENT_LOGGER, info: (...words: unknown[]) => void told.push(words) }
    const deps = { facts, nowMs: () => NOW_MS, logger }
    await deleteOlder({ ...deps, catalog: () => catalog(1_095) })
    expect(await counts('acme-dev')).to.deep.equal(all(4))
    await deleteOlder({ ...deps, catalog: () => catalog(30) })
    expect(await counts('acme-dev')).to.deep.equal(all(2))
    expect(await counts("it's")).to.deep.equal(all(4, ofRecords))
    await deleteOlder({ ...deps, catalog: () => catalog(30) })
    expect(told).to.have.length(1)
  })
})
