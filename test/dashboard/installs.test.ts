/** Installs, deliveries and downloads in the dashboard's API, over a real engine. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'chai'

import { visitIdTime } from '../../domain/receipt.ts'
import { decodeRecord, type ActivityRecord } from '../../domain/records.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { encodeRecord, type DeadLetter } from '../../domain/records.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import {
  attempt,
  decisionRecord,
  deliveryRecord,
  installRecord,
  requestRecord,
  store,
  visitRecord,
} from '../contract/fact-samples.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const website = (id: string, organization: string): string =>
  `---\napiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: ${id} }\n` +
  `spec: { organizationRef: { name: ${organization} }, displayName: ${id}, primaryOrigin: 'https://${id}.example', providers: [ga4] }\n`

const MANIFESTS = [
  organizationOf('acme', { members: { 'anna@acme.dev': 'Member', 'vera@acme.dev': 'Viewer' } }),
  website('acme-one', 'acme'),
  website('acme-csv', 'acme'),
  `---\n${organizationOf('other', { members: { 'bert@other.dev': 'Owner' } })}`,
  website('other-one', 'other'),
].join('')

const HOUR_MS = 3_600_000
const ROOT = '/api/organizations'

describe('Installs in the dashboard', () => {
  let folder: string
  let facts: Facts
  let stage: Stage
  let anna: string
  let vera: string
  let bert: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whence-installs-'))
    const connection = await openChdb(folder)
    await migrate(connection)
    facts = clickhouseFacts(connection, { nowMs: Date.now })
    stage = await startStage({ manifests: MANIFESTS, facts })
    anna = await stage.signIn('anna@acme.dev')
    vera = await stage.signIn('vera@acme.dev')
    bert = await stage.signIn('bert@other.dev')
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const get = (path: string, cookies = anna, organization = 'acme'): Promise<Told> =>
    stage.ask('GET', `${ROOT}/${organization}/${path}`, { cookies })
  const mine = { website: 'acme-one', organization: 'acme' }
  const recently = (index: number): number => Date.now() - HOUR_MS + index * 1_000

  async function activity(type: string): Promise<readonly ActivityRecord[]> {
    const entries = await stage.eventLog.read('activity', 0, 1_000)
    return entries.map(({ value }) => decodeRecord<ActivityRecord>(value)).filter((entry) => entry.type === type)
  }

  it('are listed once each with where they came from, as they were decided, page by page', async () => {
    const visit = visitRecord({ ...mine, utm: { source: 'news', campaign: 'spring' } })
    const matched = {
      resolution: 'matched',
      visitId: visit.visit.visitId,
      visitIssuedAtMs: visit.visit.issuedAtMs,
    } as const
    const installs = Array.from({ length: 205 }, (_, index) =>
      installRecord({ ...mine, receivedAtMs: recently(index), ...(index === 204 ? matched : {}) }),
    )
    const pending = installRecord({ ...mine, receivedAtMs: recently(300), resolution: 'pending' })
    await store(facts, [visit, ...installs, pending, decisionRecord(pending, { visitId: visit.visit.visitId })])
    await store(facts, installs)
    const first = await get('installs?website=acme-one')
    const second = await get(`installs?website=acme-one&cursor=${first.body['next']}`)
    expect(second.body['next']).to.equal(null)
    const rows = [...first.body['installs'], ...second.body['installs']]
    const ids = rows.map(({ install }) => install.event_id)
    expect(ids).to.deep.equal([pending, ...installs.toReversed()].map(({ install }) => install.eventId))
    expect(rows[0].install.resolution).to.equal('matched')
    expect(rows[1].visit).to.include({
      utm_source: 'news',
      utm_campaign: 'spring',
      page_url: 'https://acme.dev/install',
    })
    expect(rows[2].visit).to.equal(null)
    const decided = await get('installs?website=acme-one&resolution=matched')
    expect(decided.body['installs']).to.have.lengthOf(2)
    expect((await get('installs?resolution=pending')).body['installs']).to.deep.equal([])
    expect((await get(`installs?cursor=${first.body['next']}`, bert, 'other')).status).to.equal(400)
  })

  it('are found by why they have no visit, how it was chosen, and where it came from, also if that was decided later', async () => {
    // The time in its ID is what visits are found by.
    const visitId = `03${visitIdTime(recently(0))}${'5'.repeat(18)}`
    const visit = visitRecord({ ...mine, visitId, utm: { source: 'found', medium: 'mail' }, issuedAtMs: recently(0) })
    const chosen = { resolution: 'matched', visitId: visit.visit.visitId, visitIssuedAtMs: recently(0) } as const
    const there = { ...mine, receivedAtMs: recently(10), platform: 'plan9' }
    const pending = installRecord({ ...there, eventId: 'event-later', resolution: 'pending' })
    const lost = installRecord({ ...there, eventId: 'event-lost', resolution: 'pending' })
    const nothing = { resolution: 'unmatched', selectionPolicy: 'none', visitId: null, visitIssuedAtMs: null } as const
    await store(facts, [
      visit,
      installRecord({ ...there, eventId: 'event-token', ...chosen, selectionPolicy: 'handoff', candidateCount: 1 }),
      installRecord({ ...there, eventId: 'event-forged' }),
      ...[pending, decisionRecord(pending, { visitId: visit.visit.visitId })],
      ...[
        lost,
        decisionRecord(lost, { ...nothing, verdicts: [{ visitId: null, issuedAtMs: null, verdict: 'expired' }] }),
      ],
    ])
    const found = async (query: string): Promise<readonly string[]> =>
      (await get(`installs?platform=plan9&since=${recently(0)}&${query}`)).body['installs']
        .map(({ install }: { install: { event_id: string } }) => install.event_id)
        .sort()
    expect(await found('reason=forged')).to.deep.equal(['event-forged'])
    expect(await found('reason=expired')).to.deep.equal(['event-lost'])
    expect(await found('policy=handoff')).to.deep.equal(['event-token'])
    expect(await found('source=found&medium=mail')).to.deep.equal(['event-later', 'event-token'])
    expect(await found('source=found&policy=latest_visit')).to.deep.equal(['event-later'])
    expect(await found('page=https%3A%2F%2Facme.dev%2Finstall')).to.deep.equal(['event-later', 'event-token'])
    expect(await found('referrer=elsewhere.example')).to.deep.equal([])
    expect(await found('source=')).to.deep.equal([])
    expect(await found(`visitSince=${recently(-60)}&visitUntil=${recently(60)}`)).to.have.lengthOf(2)
    expect(await found(`source=found&visitUntil=${recently(-60)}`)).to.deep.equal([])
    expect(await found('agent=')).to.have.lengthOf(4)
  })

  it('are explained one by one, to their own organisation alone', async () => {
    const visit = visitRecord(mine)
    const { visitId } = visit.visit
    const verdicts = [{ visitId, issuedAtMs: visit.visit.issuedAtMs, verdict: 'active' as const }]
    const install = installRecord({ ...mine, eventId: 'event-why', visitId, verdicts, resolution: 'matched' })
    const sent = deliveryRecord({ ...mine, eventId: 'event-why', status: 'delivered', attempt: attempt() })
    await store(facts, [visit, install, sent])
    const { body } = await get('installs/acme-one/event-why')
    expect(body['install']).to.include({ event_id: 'event-why', visit_id: visitId })
    for (const part of ['visits', 'deliveries', 'attempts']) expect(body[part], part).to.have.lengthOf(1)
    const nothing = await get('installs/acme-one/event-none')
    const swapped = [
      await get('installs/acme-one/event-why', bert, 'other'),
      await get('installs/other-one/event-why'),
      await get('installs/other-one/event-why', bert, 'other'),
      await get('installs?website=other-one'),
      await get('deliveries?website=other-one'),
      await get('installs/export?website=other-one'),
      await get('logs/export?website=other-one'),
      await get('deliveries', bert),
    ]
    for (const told of swapped) expect([told.status, told.text]).to.deep.equal([nothing.status, nothing.text])
  })

  it('have deliveries that are counted by destination and cause', async () => {
    const failed = {
      ...mine,
      destination: 'acme-ga4',
      status: 'failed',
      reason: 'refused',
      atMs: Date.now() - HOUR_MS,
    } as const
    await store(facts, [deliveryRecord({ ...failed, eventId: 'event-bad' }), deliveryRecord(failed)])
    await store(facts, [deliveryRecord({ website: 'other-one', organization: 'other', status: 'failed' })])
    const { body } = await get('deliveries?website=acme-one')
    const group = body['groups'].find(({ status }: { status: string }) => status === 'failed')
    expect(group).to.include({ destination: 'acme-ga4', reason: 'refused', deliveries: 2 })
    expect(JSON.stringify(body)).not.to.include('other-one')
  })

  it('have failed deliveries that Members may send again', async () => {
    const job = { ...jobOf(), ...mine, destination: 'acme-ga4', deadlineAtMs: Date.now() + HOUR_MS }
    const letter: DeadLetter = { v: 1, job, reason: 'refused: http_400', failedAtMs: Date.now() }
    await stage.eventLog.append('dead-letters', [{ key: job.jobId, value: encodeRecord(letter) }])
    const state = { eventId: job.install.eventId, destination: 'acme-ga4', status: 'failed' } as const
    await store(facts, [deliveryRecord({ ...mine, ...state, atMs: Date.now() })])
    const replay = (cookies: string, body: object, organization = 'acme'): Promise<Told> =>
      stage.ask('POST', `${ROOT}/${organization}/deliveries/replay`, { cookies, body, address: '198.51.100.251' })
    expect((await replay(vera, { website: 'acme-one' })).status).to.equal(403)
    expect((await replay(bert, { website: 'acme-one' }, 'other')).status).to.equal(404)
    const told = await replay(anna, { website: 'acme-one', job: job.jobId })
    expect(told.body).to.deep.equal({ replayed: 1, refused: 0, mayHaveMore: false })
    const [sent] = await stage.eventLog.read('deliver.ga4', 0, 10)
    expect(sent?.value).to.include(job.jobId)
    expect(await activity('deliveries_replayed')).to.have.lengthOf(1)
  })

  describe('as downloads', () => {
    const lines = (text: string, end: string): string[] => text.split(end).filter((line) => line !== '')

    it('are CSV whose cells no spreadsheet runs, with a last line that counts', async () => {
      const evil = '=HYPERLINK("http://x.example")'
      const visit = visitRecord({ website: 'acme-csv', organization: 'acme', utm: { source: evil, campaign: '+1' } })
      const matched = { resolution: 'matched', visitId: visit.visit.visitId } as const
      const of = { website: 'acme-csv', organization: 'acme', receivedAtMs: recently(0) }
      await store(facts, [visit, installRecord({ ...of, ...matched }), installRecord(of), installRecord(of)])
      const told = await raw('installs/export?website=acme-csv&excel=true')
      expect(told.headers.get('content-disposition')).to.equal('attachment; filename="installs.csv"')
      const rows = lines(told.text, '\r\n')
      expect(rows).to.have.lengthOf(5)
      expect(told.text.codePointAt(0)).to.equal(0xfeff)
      expect(told.text).to.include(`"'=HYPERLINK(""http://x.example"")"`).and.include(`"'+1"`)
      expect(rows.at(-1)).to.equal('# 3 installs')
      expect((await get('installs/export', vera)).status).to.equal(403)
      expect(await activity('export')).to.have.lengthOf(1)
    })

    it('are lines of JSON or text with bodies, as often as ten times an hour', async () => {
      const receivedAtMs = Date.now() - HOUR_MS
      const of = { website: 'other-one', organization: 'other', receivedAtMs }
      const records = Array.from({ length: 2_500 }, () => requestRecord({ ...of, body: '{"a":"\t"}' }))
      await store(facts, records)
      const recent = `website=other-one&since=${Date.now() - 2 * HOUR_MS}`
      const told = await raw(`logs/export?${recent}`, bert, 'other')
      const parsed = lines(told.text, '\n').map((line) => JSON.parse(line) as Record<string, any>)
      expect(parsed.pop()).to.deep.equal({ export: { records: 2_500, truncated: null, continueBefore: null } })
      expect(new Set(parsed.map(({ id }) => id as string)).size).to.equal(2_500)
      expect(parsed[0]?.['body']).to.equal('{"a":"\t"}')
      const text = lines((await raw(`logs/export?format=text&${recent}`, bert, 'other')).text, '\n')
      expect(text).to.have.lengthOf(2_501)
      expect(text[0]).to.match(/^\d{4}-.*Z 200 POST \/v1\/visits - 18 [0-9a-f]{28}$/)
      for (let times = 2; times < 10; times++) await raw(`logs/export?${recent}&kind=visit`, bert, 'other')
      // An hour may turn in between.
      const more = await Promise.all([1, 2, 3].map(() => get(`logs/export?${recent}&kind=visit`, bert, 'other')))
      expect(more.map(({ status }) => status)).to.include(429)
    })

    const raw = async (path: string, cookies = anna, organization = 'acme') => {
      const headers = { Cookie: cookies, 'Sec-Fetch-Site': 'same-origin' }
      const response = await fetch(`${stage.url}${ROOT}/${organization}/${path}`, { headers })
      expect(response.status, path).to.equal(200)
      return { headers: response.headers, text: Buffer.from(await response.arrayBuffer()).toString('utf8') }
    }
  })
})
