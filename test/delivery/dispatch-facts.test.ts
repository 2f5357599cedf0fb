/** What dispatch reads, from the real engine: the visit as it was recorded, and the events that have deliveries. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import type { Visit } from '../../domain/collection/visit-fields.ts'
import { recordKey, type LogRecord } from '../../domain/records.ts'
import { deliveriesOf } from '../../delivery/dispatch/plan.ts'
import { readEarlierDeliveries, readVisits } from '../../delivery/dispatch/reads.ts'
import { addFactRows } from '../../delivery/facts-writer/fact-rows.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import {
  catalogOf,
  destinationOf,
  installOf,
  NOON_MS,
  recordOf,
  visitOf,
  WEBSITE,
} from '../../fixtures/delivery/builders.ts'

describe('what dispatch reads from ClickHouse', () => {
  let folder: string
  let connection: FactsConnection
  let facts: Facts

  before(async function () {
    this.timeout(60_000)
    folder = await mkdtemp(join(tmpdir(), 'whence-dispatch-facts-'))
    connection = await openChdb(folder)
    await migrate(connection)
    facts = clickhouseFacts(connection, { nowMs: () => NOON_MS })
  })
  after(async () => {
    await connection.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function store(...records: LogRecord[]): Promise<void> {
    for (const [offset, record] of records.entries()) {
      const rows: Parameters<Facts['insert']>[] = []
      addFactRows(record, { topic: 'visits', partition: 0, offset }, (table, row) => rows.push([table, [row]]))
      for (const row of rows) await facts.insert(...row)
    }
  }
  const visitRecord = (visit: Visit): LogRecord => ({
    v: 1,
    kind: 'visit',
    visit,
    retentionDays: 395,
    request: recordOf(installOf()).request,
  })

  it('is every visit exactly as it was recorded, bare ones and full ones', async () => {
    const full = visitOf({
      client: { architecture: 'arm', brave: true, touch: 0 },
      previousVisitId: 'e'.repeat(32),
      gpc: true,
    })
    const bare = visitOf({
      visitId: 'b'.repeat(32),
      utm: {},
      identities: {},
      client: {},
      landedAtMs: null,
      referrer: '',
      sourceReferrer: '',
      isHandoffOnly: true,
    })
    await store(visitRecord(full), visitRecord(bare))
    const wanted = [full.visitId, bare.visitId, 'c'.repeat(32)].map((visitId) => ({
      organization: 'acme',
      website: WEBSITE,
      visitId,
    }))
    const visits = await readVisits(facts, [
      ...wanted,
      { organization: 'acme', website: 'other', visitId: full.visitId },
    ])
    expect(Object.fromEntries(visits)).to.deep.equal({
      [recordKey({ organization: 'acme', website: WEBSITE }, full.visitId)]: full,
      [recordKey({ organization: 'acme', website: WEBSITE }, bare.visitId)]: bare,
    })
  })

  it('does not contain a visit whose row is damaged, which is reported, while all others are read', async () => {
    const fine = visitOf({ visitId: '1'.repeat(32) })
    const broken = visitOf({ visitId: '2'.repeat(32) })
    await store(visitRecord(fine), visitRecord(broken))
    await connection.command(
      `INSERT INTO visits SELECT * REPLACE ('{"ga4":' AS identities, row_version + 1 AS row_version) FROM visits
      WHERE visit_id = '${broken.visitId}'`,
    )
    const told: unknown[] = []
    const wanted = [fine, broken].map(({ visitId }) => ({ organization: 'acme', website: WEBSITE, visitId }))
    const visits = await readVisits(facts, wanted, (visit) => told.push(visit))
    expect([...visits.keys()]).to.deep.equal([recordKey({ organization: 'acme', website: WEBSITE }, fine.visitId)])
    expect(told).to.deep.equal([{ organization: 'acme', website: WEBSITE, visitId: broken.visitId }])
  })

  it('is a delivery as soon as its first record is stored', async () => {
    const record = recordOf(installOf())
    const { records } = deliveriesOf({
      record,
      visit: visitOf(),
      catalog: catalogOf([destinationOf()]),
      isBehind: false,
      nowMs: NOON_MS,
      superseded: null,
      kind: 'install',
      withoutInstall: new Set(),
      withoutTopic: new Set(),
    })
    const events = ['event-0001', 'event-0002'].map((eventId) => ({ organization: 'acme', website: WEBSITE, eventId }))
    expect(await readEarlierDeliveries(facts, events)).to.deep.equal(new Map())
    await store(...records)
    const known = [{ destination: 'acme-ga4', receivedAtMs: NOON_MS, isSkipped: false }]
    expect(await readEarlierDeliveries(facts, events)).to.deep.equal(
      new Map([[recordKey({ organization: 'acme', website: WEBSITE }, 'event-0001'), known]]),
    )
  })
})
