/** Installs and downloads in the dashboard's API, over a real engine. */

import { expect } from 'chai'

import { visitIdTime } from '../../domain/receipt.ts'
import {
  attempt,
  decisionRecord,
  deliveryRecord,
  installRecord,
  requestRecord,
  store,
  visitRecord,
} from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { MINE, recently, ROOT, startTwoOrganizations, type TwoOrganizations } from './support/two-organizations.ts'

const HOUR_MS = 3_600_000

describe('Installs in the dashboard', () => {
  let both: TwoOrganizations
  before(async () => {
    both = await startTwoOrganizations(['acme-one', 'acme-csv', 'acme-two'])
  })
  after(() => both?.stop())

  it('are listed once each with where they came from, as they were decided, page by page', async () => {
    const visit = visitRecord({ ...MINE, utm: { source: 'news', campaign: 'spring' } })
    const matched = {
      resolution: 'matched',
      visitId: visit.visit.visitId,
      visitIssuedAtMs: visit.visit.issuedAtMs,
    } as const
    const installs = Array.from({ length: 205 }, (_, index) =>
      installRecord({ ...MINE, receivedAtMs: recently(index), ...(index === 204 ? matched : {}) }),
    )
    const pending = installRecord({ ...MINE, receivedAtMs: recently(300), resolution: 'pending' })
    await store(both.facts, [visit, ...installs, pending, decisionRecord(pending, { visitId: visit.visit.visitId })])
    await store(both.facts, installs)
    const first = await both.get('installs?website=acme-one')
    const rows = [...first.body['installs']]
    // A page ends when it is full, or when its time is up: on a busy machine there are more of them.
    for (let { next } = first.body; next !== null;) {
      const page = await both.get(`installs?website=acme-one&cursor=${next}`)
      rows.push(...page.body['installs'])
      next = page.body['next']
    }
    const ids = rows.map(({ install }) => install.event_id)
    expect(ids).to.deep.equal([pending, ...installs.toReversed()].map(({ install }) => install.eventId))
    expect(rows[0].install.resolution).to.equal('matched')
    expect(rows[1].visit).to.include({
      source: 'news',
      campaign: 'spring',
      channel: 'Unassigned',
      page_url: 'https://acme.dev/install',
    })
    expect(rows[2].visit).to.equal(null)
    const decided = await both.get('installs?website=acme-one&resolution=matched')
    expect(decided.body['installs']).to.have.lengthOf(2)
    expect((await both.get('installs?resolution=pending')).body['installs']).to.deep.equal([])
    expect((await both.get(`installs?cursor=${first.body['next']}`, both.bert, 'other')).status).to.equal(400)
  })

  it('are found by their ID, as visits, deliveries and requests are, and nobody finds those of others', async () => {
    const visit = visitRecord(MINE)
    const install = installRecord({ ...MINE, eventId: 'event-to-find' })
    const delivery = deliveryRecord({ ...MINE, eventId: 'event-sent', jobId: 'job-to-find' })
    const atMs = recently(0)
    const requestId = `${atMs.toString(16).padStart(12, '0')}${'7'.repeat(16)}`
    const asked = requestRecord({ ...MINE, id: requestId, receivedAtMs: atMs })
    const { visitId } = visit.visit
    await store(both.facts, [visit, install, delivery, asked])
    const found = async (id: string): Promise<readonly unknown[]> => (await both.get(`find?id=${id}`)).body['found']
    const { website } = MINE
    expect(await found('event-to-find')).to.deep.equal([{ kind: 'install', website, id: 'event-to-find', at: null }])
    expect(await found(visitId)).to.deep.equal([{ kind: 'visit', website, id: visitId, at: null }])
    expect(await found('job-to-find')).to.deep.equal([{ kind: 'delivery', website, id: 'event-sent', at: null }])
    expect(await found(requestId)).to.deep.equal([{ kind: 'request', website, id: requestId, at: atMs }])
    expect(await found('event-to-fin')).to.deep.equal([])
    expect((await both.get('find?id=event-to-find', both.bert, 'other')).body['found']).to.deep.equal([])
  })

  it('of two websites are told apart, even if their events have the same ID', async () => {
    const same = { eventId: 'event-of-both', platform: 'haiku' }
    const late = installRecord({ ...MINE, ...same, receivedAtMs: recently(400) })
    const early = installRecord({ ...MINE, ...same, website: 'acme-two', receivedAtMs: recently(-400) })
    await store(both.facts, [late, early])
    const found = async (query: string): Promise<readonly string[]> =>
      (await both.get(`installs?filter=platform:is:haiku${query}`)).body['installs'].map(
        ({ install }: { install: { website: string } }) => install.website,
      )
    expect(await found('')).to.deep.equal(['acme-one', 'acme-two'])
    expect(await found(`&since=${recently(0)}`)).to.deep.equal(['acme-one'])
    expect(await found(`&until=${recently(0)}`)).to.deep.equal(['acme-two'])
    expect(await found('&website=acme-two')).to.deep.equal(['acme-two'])
  })

  it('are found by why they have no visit, how it was chosen, and where it came from, even if that was decided later', async () => {
    // The time in its ID is what visits are found by.
    const visitId = `03${visitIdTime(recently(0))}${'5'.repeat(18)}`
    const visit = visitRecord({ ...MINE, visitId, utm: { source: 'found', medium: 'mail' }, issuedAtMs: recently(0) })
    const chosen = { resolution: 'matched', visitId: visit.visit.visitId, visitIssuedAtMs: recently(0) } as const
    const there = { ...MINE, receivedAtMs: recently(10), platform: 'plan9' }
    const pending = installRecord({ ...there, eventId: 'event-later', resolution: 'pending' })
    const lost = installRecord({ ...there, eventId: 'event-lost', resolution: 'pending' })
    const nothing = { resolution: 'unmatched', selectionPolicy: 'none', visitId: null, visitIssuedAtMs: null } as const
    await storeCounted(
      both.facts,
      [
        visit,
        installRecord({ ...there, eventId: 'event-token', ...chosen, selectionPolicy: 'handoff', candidateCount: 1 }),
        installRecord({ ...there, eventId: 'event-forged' }),
        pending,
        decisionRecord(pending, { visitId: visit.visit.visitId }),
        lost,
        decisionRecord(lost, { ...nothing, verdicts: [{ visitId: null, issuedAtMs: null, verdict: 'expired' }] }),
      ],
      Date.now,
    )
    const found = async (query: string): Promise<readonly string[]> =>
      (await both.get(`installs?filter=platform:is:plan9&since=${recently(0)}&${query}`)).body['installs']
        .map(({ install }: { install: { event_id: string } }) => install.event_id)
        .sort()
    expect(await found('reason=forged')).to.deep.equal(['event-forged'])
    expect(await found('reason=expired')).to.deep.equal(['event-lost'])
    expect(await found('policy=handoff')).to.deep.equal(['event-token'])
    expect(await found('filter=source:is:found&filter=medium:is:mail')).to.deep.equal(['event-later', 'event-token'])
    expect(await found('filter=source:is:found&policy=latest_visit')).to.deep.equal(['event-later'])
    expect(await found('filter=page:is:https%3A%2F%2Facme.dev%2Finstall')).to.deep.equal(['event-later', 'event-token'])
    expect(await found('filter=referrer:is:elsewhere.example')).to.deep.equal([])
    expect(await found('filter=source:is:')).to.deep.equal([])
    expect(await found(`visitSince=${recently(-60)}&visitUntil=${recently(60)}`)).to.have.lengthOf(2)
    expect(await found(`filter=source:is:found&visitUntil=${recently(-60)}`)).to.deep.equal([])
    expect(await found('filter=agent:is:')).to.have.lengthOf(4)
  })

  it('are without CI and containers where figures are, unless these are asked for, with the others or alone', async () => {
    const there = { ...MINE, receivedAtMs: recently(10), platform: 'serenity', installPath: 'cli', productVersion: '7' }
    await storeCounted(
      both.facts,
      [
        installRecord({ ...there, eventId: 'event-person', installationId: 'person' }),
        installRecord({ ...there, eventId: 'event-ci', installationId: 'ci', isCi: true }),
        installRecord({ ...there, eventId: 'event-container', installationId: 'container', isContainer: true }),
      ],
      Date.now,
    )
    const found = async (query: string): Promise<readonly string[]> =>
      (await both.get(`installs?filter=platform:is:serenity&${query}`)).body['installs']
        .map(({ install }: { install: { event_id: string } }) => install.event_id)
        .sort()
    const all = ['event-ci', 'event-container', 'event-person']
    expect(await found('')).to.deep.equal(all)
    expect(await found('leftOut=include')).to.deep.equal(all)
    expect(await found('leftOut=only')).to.deep.equal(['event-ci', 'event-container'])
    expect(await found('kind=install')).to.deep.equal(['event-person'])
    expect(await found('kind=install&filter=version:is:7&leftOut=include')).to.deep.equal(all)
    expect(await found('kind=install&leftOut=only')).to.deep.equal(['event-ci', 'event-container'])
    expect((await both.get('installs?leftOut=other')).status).to.equal(400)
  })

  it('show a copied command that several machines ran as one channel with its page, and count each event once', async () => {
    const [shared, own] = ['7', '8'].map((digit) => `03${visitIdTime(recently(0))}${digit.repeat(18)}`) as [
      string,
      string,
    ]
    const visits = [shared, own].map((visitId) => visitRecord({ ...MINE, visitId, issuedAtMs: recently(0) }))
    const byToken = { resolution: 'matched', selectionPolicy: 'handoff', candidateCount: 1, visitId: shared } as const
    const of = (eventId: string, installationId: string, more = {}) =>
      installRecord({ ...MINE, ...byToken, receivedAtMs: recently(20), eventId, installationId, ...more })
    const later = of('fan-4', 'machine-4', { resolution: 'pending', selectionPolicy: 'none', visitId: null })
    await store(both.facts, [
      ...visits,
      of('fan-1', 'machine-1'),
      of('fan-2', 'machine-2', { agent: 'claude-code' }),
      of('fan-3', 'machine-3'),
      of('fan-1b', 'machine-1', { eventType: 'first_run' }),
      of('fan-own', 'machine-5', { visitId: own }),
      later,
      decisionRecord(later, { ...byToken }),
      // Without its token, so that it does not count as a run of the command.
      of('fan-marker', 'machine-6', { selectionPolicy: 'latest_visit' }),
    ])
    await store(both.facts, [of('fan-1', 'machine-1')])
    const { body } = await both.get(`shared-commands?website=acme-one&since=${recently(0)}`)
    const command = body['commands'].find((row: { visit_id: string }) => row.visit_id === shared)
    expect(command).to.include({ installations: 4, events: 5, first_run: 1, by_agents: 1 })
    expect(command.visit.page_url).to.equal('https://acme.dev/install')
    expect(body['commands'].map((row: { visit_id: string }) => row.visit_id)).not.to.include(own)
    const listed = await both.get(`installs?visit=${shared}&policy=handoff&since=${recently(0)}`)
    expect(listed.body['installs']).to.have.lengthOf(5)
    const long = (await both.get(`shared-commands?since=${Date.now() - 40 * 86_400_000}`)).body
    expect([long['isCut'], long['until'] - long['since']]).to.deep.equal([true, 31 * 86_400_000])
    expect(body['isCut']).to.equal(false)
    expect((await both.get('shared-commands', both.bert, 'other')).body['commands']).to.deep.equal([])
  })

  it('are explained one by one, to their own organisation alone', async () => {
    const visit = visitRecord(MINE)
    const { visitId } = visit.visit
    const verdicts = [{ visitId, issuedAtMs: visit.visit.issuedAtMs, verdict: 'active' as const }]
    const install = installRecord({ ...MINE, eventId: 'event-why', visitId, verdicts, resolution: 'matched' })
    const sent = deliveryRecord({ ...MINE, eventId: 'event-why', status: 'delivered', attempt: attempt() })
    await store(both.facts, [visit, install, sent])
    const { body } = await both.get('installs/acme-one/event-why')
    expect(body['install']).to.include({ event_id: 'event-why', visit_id: visitId })
    for (const part of ['visits', 'deliveries', 'attempts']) expect(body[part], part).to.have.lengthOf(1)
    const nothing = await both.get('installs/acme-one/event-none')
    const swapped = [
      await both.get('installs/acme-one/event-why', both.bert, 'other'),
      await both.get('installs/other-one/event-why'),
      await both.get('installs/other-one/event-why', both.bert, 'other'),
      await both.get('installs?website=other-one'),
      await both.get('deliveries?website=other-one'),
      await both.get('installs/export?website=other-one'),
      await both.get('logs/export?website=other-one'),
      await both.get('deliveries', both.bert),
    ]
    for (const told of swapped) expect([told.status, told.text]).to.deep.equal([nothing.status, nothing.text])
  })

  describe('as downloads', () => {
    const lines = (text: string, end: string): string[] => text.split(end).filter((line) => line !== '')

    it('are CSV whose cells no spreadsheet runs, with a last line that counts', async () => {
      const evil = '=HYPERLINK("http://x.example")'
      const visit = visitRecord({ website: 'acme-csv', organization: 'acme', utm: { source: evil, campaign: '+1' } })
      const matched = { resolution: 'matched', visitId: visit.visit.visitId } as const
      const of = { website: 'acme-csv', organization: 'acme', receivedAtMs: recently(0) }
      await store(both.facts, [visit, installRecord({ ...of, ...matched }), installRecord(of), installRecord(of)])
      const told = await raw('installs/export?website=acme-csv&excel=true')
      expect(told.headers.get('content-disposition')).to.equal('attachment; filename="installs.csv"')
      const rows = lines(told.text, '\r\n')
      expect(rows).to.have.lengthOf(5)
      expect(told.text.codePointAt(0)).to.equal(0xfeff)
      expect(told.text).to.include(`"'=HYPERLINK(""http://x.example"")"`).and.include(`"'+1"`)
      expect(rows.at(-1)).to.equal('# 3 installs')
      expect((await both.get('installs/export', both.vera)).status).to.equal(403)
      expect(await both.activity('export')).to.have.lengthOf(1)
    })

    it('are lines of JSON or text with bodies, as often as ten times an hour', async () => {
      const receivedAtMs = Date.now() - HOUR_MS
      const of = { website: 'other-one', organization: 'other', receivedAtMs }
      const records = Array.from({ length: 2_500 }, () => requestRecord({ ...of, body: '{"a":"\t"}' }))
      await store(both.facts, records)
      const recent = `website=other-one&since=${Date.now() - 2 * HOUR_MS}`
      const told = await raw(`logs/export?${recent}`, both.bert, 'other')
      const parsed = lines(told.text, '\n').map((line) => JSON.parse(line) as Record<string, any>)
      expect(parsed.pop()).to.deep.equal({ export: { records: 2_500, truncated: null, continueBefore: null } })
      expect(new Set(parsed.map(({ id }) => id as string)).size).to.equal(2_500)
      expect(parsed[0]?.['body']).to.equal('{"a":"\t"}')
      const text = lines((await raw(`logs/export?format=text&${recent}`, both.bert, 'other')).text, '\n')
      expect(text).to.have.lengthOf(2_501)
      expect(text[0]).to.match(/^\d{4}-.*Z 200 POST \/v1\/visits - 18 [0-9a-f]{28}$/)
      const headers = { Cookie: both.bert, 'Sec-Fetch-Site': 'same-origin' }
      for (let times = 0; times < 10; times++) {
        const head = await fetch(`${both.stage.url}${ROOT}/other/logs/export?${recent}`, { method: 'HEAD', headers })
        expect(head.status, 'nothing is downloaded').to.equal(200)
      }
      for (let times = 2; times < 10; times++) await raw(`logs/export?${recent}&kind=visit`, both.bert, 'other')
      // A new hour may begin in between.
      const more = await Promise.all(
        [1, 2, 3].map(() => both.get(`logs/export?${recent}&kind=visit`, both.bert, 'other')),
      )
      expect(more.map(({ status }) => status)).to.include(429)
    })

    const raw = async (path: string, cookies = both.anna, organization = 'acme') => {
      const headers = { Cookie: cookies, 'Sec-Fetch-Site': 'same-origin' }
      const response = await fetch(`${both.stage.url}${ROOT}/${organization}/${path}`, { headers })
      expect(response.status, path).to.equal(200)
      return { headers: response.headers, text: Buffer.from(await response.arrayBuffer()).toString('utf8') }
    }
  })
})
