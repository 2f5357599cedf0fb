/** Logs in the dashboard's API: pages, lines, search and tail, over a real engine. */

import { expect } from 'chai'

import { createLineFeeds, type FeedTick } from '../../dashboard/logs/feed.ts'
import { issueReceipt } from '../../domain/receipt.ts'
import { decodeRecord, type RequestLog, type RequestRecord } from '../../domain/records.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import {
  attempt,
  decisionRecord,
  deliveryRecord,
  installRecord,
  requestRecord,
  store,
  visitRecord,
} from '../contract/fact-samples.ts'
import { until } from '../../fixtures/until.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, SECRET, startStage, type Stage, type Told, websiteOf } from './support/stage.ts'

const MANIFESTS = [
  organizationOf('acme', { members: { 'anna@acme.dev': 'Viewer', 'mia@acme.dev': 'Member' } }),
  ...['acme-one', 'acme-two', 'acme-live', 'acme-busy', 'acme-text'].map((id) => websiteOf(id, 'acme')),
  `---\n${organizationOf('other', { members: { 'bert@other.dev': 'Owner' } })}`,
  websiteOf('other-one', 'other'),
  `---\n${organizationOf('brief', { members: { 'anna@acme.dev': 'Viewer' }, logRetentionDays: 7 })}`,
  websiteOf('brief-one', 'brief'),
].join('')

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ROOT = '/api/organizations'

describe('a feed of new lines', () => {
  let stop = (): void => undefined
  afterEach(() => stop())

  it('says that there may be more than it counts, if there are more than it reads or it could not read for long', async () => {
    let nowMs = Date.now()
    let found = 0
    let isAway = false
    const run = async (query: string, { limit }: { limit: number }): Promise<readonly object[]> => {
      if (isAway) throw new Error('away')
      const count = query === 'requestLines' ? Math.min(found, limit) : 0
      return Array.from({ length: count }, (_, index) => ({ id: `line-${index}`, at_ms: nowMs, refs: [] }))
    }
    const feeds = createLineFeeds({ facts: { run: run as never }, nowMs: () => nowMs, pollMs: 1 })
    const ticks: FeedTick[] = []
    stop = feeds.watch({ organization: 'acme', websites: ['acme-one'] }, (tick) => void ticks.push(tick))
    const next = async (): Promise<FeedTick | undefined> => {
      const seen = ticks.length
      // The first may have begun before.
      await until(() => ticks.length > seen + 1)
      return ticks.at(-1)
    }
    found = 1_999
    expect((await next())?.isCut).to.equal(false)
    found = 2_001
    expect((await next())?.isCut).to.equal(true)
    found = 0
    expect((await next())?.isCut).to.equal(false)
    isAway = true
    await next()
    nowMs += 10_000
    isAway = false
    expect((await next())?.isCut).to.equal(false)
    isAway = true
    await next()
    nowMs += 20_000
    const before = ticks.length
    isAway = false
    await until(() => ticks.slice(before).some(({ isCut }) => isCut))
    expect((await next())?.isCut).to.equal(false)
  })
})

describe('Logs in the dashboard', () => {
  let facts: TestFacts
  let stage: Stage
  let anna: string
  let bert: string
  before(async () => {
    facts = await openTestFacts()
    stage = await startStage({ manifests: MANIFESTS, facts })
    anna = await stage.signIn('anna@acme.dev')
    bert = await stage.signIn('bert@other.dev')
  })
  let stopFeed = (): void => undefined
  after(async () => {
    stopFeed()
    await stage?.stop()
    await facts?.close()
  })

  let serial = 0
  const idAt = (ms: number): string => ms.toString(16).padStart(12, '0') + (serial++).toString(16).padStart(16, '0')
  const log = (site: string, agoMs: number, changes: Partial<RequestLog> = {}) => {
    const receivedAtMs = Date.now() - agoMs
    const organization = site.split('-')[0] ?? ''
    return requestRecord({ website: site, organization, receivedAtMs, id: idAt(receivedAtMs), ...changes })
  }
  const logs = (query = '', organization = 'acme', cookies = anna): Promise<Told> =>
    stage.ask('GET', `${ROOT}/${organization}/logs${query}`, { cookies })

  it('tell a feed that there is more if lines become visible too late to be found', async () => {
    const startMs = Date.now() - 5 * 60_000
    let nowMs = startMs
    const feeds = createLineFeeds({ facts, nowMs: () => nowMs, pollMs: 1 })
    const ticks: FeedTick[] = []
    stopFeed = feeds.watch({ organization: 'acme', websites: ['acme-late'] }, (tick) => void ticks.push(tick))
    const isCutWithin = async (spanMs: number): Promise<boolean> => {
      const before = ticks.length
      for (const endMs = nowMs + spanMs; nowMs < endMs; nowMs += 5_000) {
        const seen = ticks.length
        // A poll that began before, another, and what each of them counted.
        await until(() => ticks.length > seen + 3)
      }
      return ticks.slice(before).some(({ isCut }) => isCut)
    }
    const at = (ms: number) => log('acme-late', Date.now() - ms)
    const soon = [0, 1, 2].map((second) => at(startMs + (25 + second) * 1_000))
    expect(await isCutWithin(30_000)).to.equal(false)
    await store(facts, soon)
    // Written again, as after a restart of the facts-writer.
    await store(facts, soon)
    expect(await isCutWithin(60_000)).to.equal(false)
    expect(ticks.flatMap(({ rows }) => rows)).to.have.lengthOf(3)
    const sent = deliveryRecord({
      website: 'acme-late',
      organization: 'acme',
      eventId: 'event-late',
      attempt: attempt({ startedAtMs: nowMs - 30_000, attemptId: 'attempt-late' }),
    })
    await store(facts, [sent])
    expect(await isCutWithin(20_000)).to.equal(true)
    expect(await isCutWithin(60_000), 'each is told once').to.equal(false)
    await store(facts, [at(nowMs - 40_000)])
    expect(await isCutWithin(20_000)).to.equal(true)
    expect(ticks.flatMap(({ rows }) => rows)).to.have.lengthOf(3)
  })

  it('give every line once over all pages, newest first, requests and attempts, while more come', async () => {
    const old = Array.from({ length: 430 }, (_, index) => log('acme-one', HOUR_MS + index * 200_000))
    const sent = deliveryRecord({
      website: 'acme-one',
      organization: 'acme',
      eventId: 'event-sent',
      attempt: attempt({ startedAtMs: Date.now() - 8 * HOUR_MS, attemptId: 'attempt-one' }),
    })
    await store(facts, [...old, sent])
    const seen: Told['body'][] = []
    let next: string | null = ''
    for (let page = 0; next !== null; page++) {
      const told = await logs(
        `?website=acme-one&since=${Date.now() - DAY_MS - 4 * HOUR_MS}${next === '' ? '' : `&cursor=${next}`}`,
      )
      expect(told.status, told.text).to.equal(200)
      expect(told.body['records'].length).to.be.at.most(200)
      seen.push(...told.body['records'])
      next = told.body['next']
      await store(facts, [log('acme-one', 0)])
      expect(page).to.be.lessThan(60)
    }
    const expected = [...old.map(({ request }) => request.id), 'attempt-one']
    expect(seen.map(({ id }) => id)).to.have.members(expected)
    expect(seen.map(({ at }) => at)).to.deep.equal(seen.map(({ at }) => at).toSorted((a, b) => b - a))
    const [attempted] = seen.filter(({ direction }) => direction === 'outbound')
    expect(attempted).to.include({ event: 'event-sent', destination: 'acme-ga4', kind: 'delivery', status: 204 })
  })

  it('are narrowed by direction, class of status, code, kind, path, origin and time', async () => {
    const recent = `website=acme-two&since=${Date.now() - 4 * HOUR_MS}`
    const odd = { status: 429, code: 'rate_limited', path: '/v1/odd', origin: 'https://odd.example' }
    await store(facts, [log('acme-two', 2 * HOUR_MS, odd), log('acme-two', 3 * HOUR_MS)])
    const all = ['status=4xx', 'code=rate_limited', 'path=/v1/odd', 'origin=https://odd.example']
    for (const filter of all) {
      const { body } = await logs(`?${recent}&${filter}`)
      expect(
        body['records'].map(({ path }: { path: string }) => path),
        filter,
      ).to.deep.equal(['/v1/odd'])
    }
    const counts = [
      'kind=request',
      'kind=visit',
      'direction=outbound',
      'status=none',
      `until=${Date.now() - 2.5 * HOUR_MS}`,
    ]
    const found = await Promise.all(counts.map((filter) => logs(`?${recent}&${filter}`)))
    expect(found.map(({ body }) => body['records'].length)).to.deep.equal([2, 0, 0, 0, 1])
    for (const wrong of ['status=9xx', 'kind=x', 'limit=9', 'since=x', `text=${'a'.repeat(300)}`])
      expect((await logs(`?${wrong}`)).status, wrong).to.equal(400)
  })

  it('are not narrowed by the part of a filter before a question mark', async () => {
    const since = Date.now() - 4 * HOUR_MS
    await store(facts, [
      log('acme-two', HOUR_MS, { path: '/v1/asked?x' }),
      log('acme-two', HOUR_MS, { path: '/v1/asked' }),
    ])
    const { body } = await logs(`?since=${since}&path=/v1/asked?x`)
    expect(body['records'].map(({ path }: { path: string }) => path)).to.deep.equal(['/v1/asked?x'])
  })

  it('are refused for what can find none, with the reason', async () => {
    const refusals = [
      ['reference=a,b,c,d,e,f', { field: '/reference', message: 'must be 1 to 5 IDs with commas between them' }],
      ['reference=a,,b', { field: '/reference', message: 'must be 1 to 5 IDs with commas between them' }],
      ['since=2000&until=1000', { field: '/since', message: 'must be before until' }],
      [`until=${'9'.repeat(20)}`, { field: '/until', message: 'must be a whole number of at most 15 digits' }],
    ] as const
    for (const [query, refusal] of refusals)
      expect((await logs(`?${query}`)).body, query).to.deep.equal({ error: 'invalid_field', ...refusal })
  })

  it('are shown as long as the organisation wants, not as long as its plan allows', async () => {
    const old = log('brief-one', 8 * DAY_MS)
    const recent = log('brief-one', 6 * DAY_MS)
    await store(facts, [old, recent])
    const ids = (await logs('', 'brief')).body['records'].map(({ id }: { id: string }) => id)
    expect(ids).to.deep.equal([recent.request.id])
    expect((await logs(`?since=${Date.now() - 20 * DAY_MS}`, 'brief')).body['records']).to.have.lengthOf(1)
  })

  it('are found by IDs, and by a receipt, which never appears in an address', async () => {
    const keys = createKeyring([SECRET])
    const random = Buffer.from('abcde')
    const fresh = {
      organization: 'acme',
      website: 'acme-two',
      origin: 'https://acme-two.example',
      issuedAtMs: Date.now() - HOUR_MS,
      random,
    }
    const { text, claims } = issueReceipt(keys, { ...fresh, isHandoffOnly: false, isUnrecorded: false, gpc: false })
    const mine = { website: 'acme-two', organization: 'acme' }
    const visit = { ...visitRecord({ ...mine, visitId: claims.visitId }), request: log('acme-two', HOUR_MS).request }
    const refused = log('acme-two', HOUR_MS, { status: 410, body: `{"receipt":"hmac:${keys.logHash(text)}"}` })
    const install = {
      ...installRecord({ ...mine, eventId: 'event-found', installationId: 'machine-found' }),
      request: log('acme-two', HOUR_MS).request,
    }
    await store(facts, [visit, refused, install])
    const idsOf = async (reference: string): Promise<string[]> =>
      (await logs(`?reference=${reference}&since=${Date.now() - DAY_MS}`)).body['records'].map(
        ({ id }: { id: string }) => id,
      )
    for (const id of ['event-found', 'machine-found']) expect(await idsOf(id)).to.deep.equal([install.request.id])
    const resolve = (organization: string, cookies: string, pasted: string): Promise<Told> =>
      stage.ask('POST', `${ROOT}/${organization}/logs/reference`, { cookies, body: { text: pasted } })
    const { body } = await resolve('acme', anna, text)
    expect(await idsOf(body['references'].join())).to.have.members([visit.request.id, refused.request.id])
    expect((await resolve('acme', anna, 'event-found')).body).to.deep.equal({ references: ['event-found'] })
    // For another organisation's receipt, the visit is not named.
    expect((await resolve('other', bert, text)).text).not.to.include(claims.visitId)
    expect(stage.logLines.join('')).not.to.include(text)
  })

  it('are attempts at the events of an installation or a visit, too, before and after they were decided', async () => {
    const mine = { website: 'acme-two', organization: 'acme' }
    const sendOf = (eventId: string) =>
      deliveryRecord({
        ...mine,
        eventId,
        attempt: attempt({ startedAtMs: Date.now() - HOUR_MS, attemptId: `of-${eventId}` }),
      })
    const events = ['event-of-visit', 'event-of-machine', 'event-decided', 'event-of-nobody']
    const [visitId, laterId] = [2, 3].map((hours) => idAt(Date.now() - hours * HOUR_MS).padEnd(32, '0')) as [
      string,
      string,
    ]
    const pending = installRecord({ ...mine, eventId: 'event-decided', resolution: 'pending' })
    await store(facts, [
      installRecord({ ...mine, eventId: 'event-of-visit', visitId, visitIssuedAtMs: Date.now() - 2 * HOUR_MS }),
      installRecord({ ...mine, eventId: 'event-of-machine', installationId: 'machine-sent' }),
      installRecord({ ...mine, eventId: 'event-of-nobody' }),
      pending,
      decisionRecord(pending, { visitId: laterId }),
      ...events.map(sendOf),
    ])
    const found = async (reference: string): Promise<string[]> => {
      const query = `?direction=outbound&reference=${reference}&since=${Date.now() - DAY_MS}`
      return (await logs(query)).body['records'].map(({ event }: { event: string }) => event)
    }
    expect(await found(visitId)).to.deep.equal(['event-of-visit'])
    expect(await found(laterId)).to.deep.equal(['event-decided'])
    expect(await found('machine-sent')).to.deep.equal(['event-of-machine'])
    expect(await found('event-of-nobody,machine-sent')).to.have.members(['event-of-nobody', 'event-of-machine'])
    expect(
      (await logs(`?reference=${visitId}&since=${Date.now() - DAY_MS}`, 'other', bert)).body['records'],
    ).to.deep.equal([])
  })

  it('are searched by text, from the newest back, and report how far', async () => {
    const needle = 'needle "in" %_ hay'
    await store(
      facts,
      [5, 60].map((hours) => log('acme-text', hours * HOUR_MS, { body: `x ${needle} y` })),
    )
    const since = Date.now() - 3 * DAY_MS
    const found: number[] = []
    const backTo: number[] = []
    let query: string | null = ''
    while (query !== null) {
      const told: Told = await logs(`?website=acme-text&since=${since}&text=${encodeURIComponent(needle)}${query}`)
      found.push(...told.body['records'].map(({ at }: { at: number }) => at))
      backTo.push(told.body['searchedBackTo'])
      query = told.body['next'] === null ? null : `&cursor=${told.body['next']}`
    }
    expect(found).to.have.lengthOf(2)
    expect(backTo.at(-1)).to.equal(since)
    expect(backTo).to.deep.equal(backTo.toSorted((a, b) => b - a))
  })

  it('give one line with its exact body, and both bodies of an attempt', async () => {
    const record = log('acme-one', HOUR_MS, { body: '{"a":\t"Ä"}\n' })
    const attempted = attempt({
      startedAtMs: Date.now() - HOUR_MS,
      attemptId: 'attempt-two',
      requestBody: 'sent',
      responseBody: 'came',
    })
    await store(facts, [
      record,
      deliveryRecord({ website: 'acme-one', organization: 'acme', eventId: 'event-two', attempt: attempted }),
    ])
    const request = await stage.ask('GET', `${ROOT}/acme/logs/requests/acme-one/${record.request.id}`, {
      cookies: anna,
    })
    expect(request.body).to.include({ body: '{"a":\t"Ä"}\n', direction: 'inbound', body_form: 'text' })
    const sent = await stage.ask('GET', `${ROOT}/acme/logs/attempts/acme-one/event-two/attempt-two`, { cookies: anna })
    expect(sent.body).to.include({ request_body: 'sent', response_body: 'came', direction: 'outbound' })
  })

  it('of others are not found, whatever ID is swapped', async () => {
    const theirs = log('other-one', HOUR_MS, { body: '{"event_id":"event-other"}' })
    await store(facts, [theirs, log('acme-one', HOUR_MS)])
    const own = await logs('', 'other', bert)
    expect(own.body['records'].map(({ id }: { id: string }) => id)).to.include(theirs.request.id)
    const page = await logs()
    expect(page.text).not.to.include(theirs.request.id)
    expect((await logs(`?reference=event-other&since=${Date.now() - DAY_MS}`)).body['records']).to.deep.equal([])
    const nothing = await stage.ask('GET', `${ROOT}/acme/logs/requests/acme-one/${'0'.repeat(28)}`, { cookies: anna })
    const swapped = [
      await stage.ask('GET', `${ROOT}/acme/logs/requests/other-one/${theirs.request.id}`, { cookies: anna }),
      await stage.ask('GET', `${ROOT}/acme/logs/requests/acme-one/${theirs.request.id}`, { cookies: anna }),
      await stage.ask('GET', `${ROOT}/other/logs/requests/other-one/${theirs.request.id}`, { cookies: anna }),
      await stage.ask('GET', `${ROOT}/acme/logs/attempts/other-one/event-two/attempt-two`, { cookies: anna }),
      await logs('?website=other-one'),
      await logs('', 'other'),
      await stage.ask('GET', `${ROOT}/acme/logs/tail?website=other-one`, { cookies: anna }),
      await stage.ask('GET', `${ROOT}/other/live`, { cookies: anna }),
    ]
    for (const told of swapped) expect([told.status, told.text]).to.deep.equal([nothing.status, nothing.text])
    const { body } = await logs('?until=9')
    expect(body).to.include({ next: null })
    const cursor = (await logs(`?website=acme-one`)).body['next'] as string
    for (const wrong of [`${cursor}0`, cursor.replace('.', '0.'), 'x', '.'])
      expect((await logs(`?cursor=${wrong}`)).status, wrong).to.equal(400)
    expect((await logs(`?cursor=${cursor}`, 'other', bert)).status).to.equal(400)
  })

  /** As the facts-writer stores what the dashboard itself has written; gives the ID of its request. */
  const refuseAndStore = async (): Promise<string> => {
    const cookies = await stage.signIn('anna@acme.dev')
    const address = `203.0.113.${serial++ % 250}`
    const support = () => stage.ask('POST', `${ROOT}/acme/support`, { cookies, address, body: {} })
    const written = async () =>
      (await stage.eventLog.read('requests', 0, 1_000)).map(({ value }) => decodeRecord<RequestRecord>(value))
    const before = (await written()).length
    for (let times = 0; times <= RATE_RULES.dashboard_writes.limit; times++) await support()
    await until(async () => (await written()).length > before)
    const records = await written()
    await store(facts, records)
    return records.at(-1)?.request.id ?? ''
  }

  it('show a request of the dashboard that a rate refused, to its organisation alone, and not as one of a website', async () => {
    const id = await refuseAndStore()
    const idsOf = ({ body }: Told): string[] => body['records'].map((line: { id: string }) => line.id)
    const [line] = (await logs('?kind=dashboard')).body['records']
    expect(line).to.include({ id, kind: 'dashboard', website: '', status: 429, code: 'rate_limited' })
    expect(line.path).to.equal('/api/organizations/:organization/support')
    expect(idsOf(await logs('?status=4xx'))).to.include(id)
    expect(idsOf(await logs('?kind=request'))).not.to.include(id)
    expect(idsOf(await logs('?website=acme-one'))).not.to.include(id)
    expect(idsOf(await logs('', 'other', bert))).not.to.include(id)
    const one = await stage.ask('GET', `${ROOT}/acme/logs/requests/~/${id}`, { cookies: anna })
    expect(one.body).to.include({ id, kind: 'dashboard', website: '', body: '', body_form: 'none' })
    for (const [organization, cookies] of [
      ['other', bert],
      ['acme', bert],
    ] as const)
      for (const place of ['~', '~acme'])
        expect(
          (await stage.ask('GET', `${ROOT}/${organization}/logs/requests/${place}/${id}`, { cookies })).status,
        ).to.equal(404)
    const mia = await stage.signIn('mia@acme.dev')
    const file = await stage.ask('GET', `${ROOT}/acme/logs/export?kind=dashboard`, { cookies: mia })
    expect(file.text.split('\n').filter((text) => text.includes(id))).to.have.lengthOf(1)
  })

  describe('as they arrive', () => {
    interface Watch {
      readonly status: number
      readonly text: () => string
      readonly ended: Promise<void>
      readonly leave: () => void
    }
    const watches: Watch[] = []
    const watch = async (path: string, cookies: string): Promise<Watch> => {
      const gone = new AbortController()
      const headers = { Cookie: cookies, 'Sec-Fetch-Site': 'same-origin' }
      const response = await fetch(`${stage.url}${ROOT}/${path}`, { headers, signal: gone.signal })
      let text = ''
      const read = async (): Promise<void> => {
        const decoder = new TextDecoder()
        for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true })
      }
      const ended = read().catch(() => undefined)
      const opened = { status: response.status, text: () => text, ended, leave: () => gone.abort() }
      watches.push(opened)
      return opened
    }
    afterEach(async () => {
      for (const { leave } of watches) leave()
      await Promise.all(watches.splice(0).map(({ ended }) => ended))
    })
    const times = (text: string, part: string): number => text.split(part).length - 1

    it('are shown once each, those that fit, and counted beyond twenty a second', async () => {
      const anew = await stage.signIn('anna@acme.dev')
      const tail = await watch('acme/logs/tail?website=acme-live&status=4xx', anew)
      await until(() => tail.text().includes('event: lines'))
      const refused = Array.from({ length: 30 }, () => log('acme-live', 0, { status: 404 }))
      await store(facts, [...refused, log('acme-live', 0)])
      await until(() => tail.text().includes('"more":10'))
      await store(facts, refused)
      const last = log('acme-live', 0, { status: 404 })
      await store(facts, [last])
      await until(() => tail.text().includes(last.request.id))
      expect(times(tail.text(), '"status":404')).to.equal(21)
      expect(tail.text()).not.to.include('"status":200')
    })

    it('are all counted, however many come at once', async () => {
      const tail = await watch('acme/logs/tail?website=acme-busy', await stage.signIn('anna@acme.dev'))
      await until(() => tail.text().includes('event: lines'))
      await store(
        facts,
        Array.from({ length: 1_000 }, () => log('acme-busy', 0, { status: 404 })),
      )
      const events = () =>
        tail
          .text()
          .split('\n')
          .filter((line) => line.startsWith('data: '))
          .map((line) => JSON.parse(line.slice('data: '.length)) as { records: unknown[]; more: number })
      const told = () => events().reduce((sum, { records, more }) => sum + records.length + more, 0)
      await until(() => told() >= 1_000)
      expect(told()).to.equal(1_000)
      expect(JSON.stringify(events())).not.to.include('isAtLeast')
    })

    it('are only those that name what is looked for, requests and attempts', async () => {
      const query = 'website=acme-live&reference=event-followed,job-followed'
      const tail = await watch(`acme/logs/tail?${query}`, await stage.signIn('anna@acme.dev'))
      await until(() => tail.text().includes('event: lines'))
      const of = { website: 'acme-live', organization: 'acme' }
      const named = log('acme-live', 0, { body: '{"event_id":"event-followed"}' })
      const sent = (attemptId: string, ids: { eventId?: string; jobId?: string }) =>
        deliveryRecord({ ...of, ...ids, attempt: attempt({ startedAtMs: Date.now(), attemptId }) })
      await store(facts, [
        log('acme-live', 0, { body: '{"event_id":"event-another"}' }),
        named,
        sent('attempt-of-event', { eventId: 'event-followed' }),
        sent('attempt-of-another', { eventId: 'event-another' }),
        sent('attempt-of-job', { jobId: 'job-followed' }),
      ])
      for (const id of [named.request.id, 'attempt-of-event', 'attempt-of-job'])
        await until(() => tail.text().includes(id))
      expect(times(tail.text(), '"direction":')).to.equal(3)
    })

    it('are those of the dashboard too, unless a website is named', async () => {
      const anew = await stage.signIn('anna@acme.dev')
      const all = await watch('acme/logs/tail', anew)
      const one = await watch('acme/logs/tail?website=acme-live', anew)
      await until(() => all.text().includes('event: lines') && one.text().includes('event: lines'))
      const id = await refuseAndStore()
      const last = log('acme-live', 0)
      await store(facts, [last])
      await until(() => [all, one].every(({ text }) => text().includes(last.request.id)))
      await until(() => all.text().includes(id))
      expect(one.text()).not.to.include(id)
    })

    it('begin the live view with the requests of the last half hour', async () => {
      const anew = await stage.signIn('anna@acme.dev')
      const old = log('acme-live', HOUR_MS)
      const recent = log('acme-live', HOUR_MS / 4)
      await store(facts, [old, recent])
      const live = await watch('acme/live?website=acme-live', anew)
      await until(() => live.text().includes(recent.request.id))
      expect(live.text()).not.to.include(old.request.id)
    })

    it('are sent to four streams of a session, and to another one after one has left', async () => {
      const anew = await stage.signIn('anna@acme.dev')
      const four = await Promise.all([1, 2, 3, 4].map(() => watch('acme/logs/tail', anew)))
      expect((await watch('acme/live', anew)).status).to.equal(429)
      expect(await stage.metrics()).to.match(/^whence_dashboard_limits_total\{limit="streams_per_session"\} 1$/m)
      four[0]?.leave()
      await until(async () => (await watch('acme/logs/tail', anew)).status === 200)
    })

    it('end with the session, and with the process in a way that makes browsers reconnect at different times', async () => {
      const leaving = await stage.signIn('anna@acme.dev')
      const staying = await stage.signIn('anna@acme.dev')
      const first = await watch('acme/logs/tail', leaving)
      const second = await watch('acme/logs/tail', staying)
      await stage.ask('POST', '/api/sign-out', { cookies: leaving, body: {}, address: '203.0.113.77' })
      await first.ended
      expect(first.text()).to.include('"no_longer_allowed"')
      stage.endStreams()
      await second.ended
      expect(second.text()).to.match(/retry: \d{4,5}\nevent: end\ndata: \{"reason":"closing"\}/)
      expect((await watch('acme/logs/tail', staying)).status).to.equal(429)
      // It is no limit of the organisation that the process ends.
      expect(await stage.metrics()).not.to.include('whence_dashboard_limits_total{limit=""}')
    })
  })
})
