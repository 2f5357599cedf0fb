/** What is read in a thread of its own is answered as in the thread of the requests: every route. */

import { expect } from 'chai'

import { READING_ROUTES } from '../../dashboard/reading.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import { visitIdTime } from '../../domain/receipt.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { until } from '../../fixtures/until.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import {
  activityRecord,
  attempt,
  deliveryRecord,
  installRecord,
  requestRecord,
  store,
  visitRecord,
} from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import {
  apiKeyOf,
  shareLinkOf,
  openReadThread,
  organizationOf,
  SECRET,
  specTime,
  startStage,
  websiteOf,
  type Stage,
  type StageOptions,
  type Told,
} from './support/stage.ts'

const AT_MS = Date.now() - 5 * MINUTE_MS
const OF = { organization: 'acme', website: 'acme-one' }
const EVENT = 'an-install-event'
const REQUEST = AT_MS.toString(16).padStart(12, '0') + '1'.repeat(16)
const ATTEMPT = 'an-attempt'
const VISITS = 3
const KEY_ID = createKeyring([SECRET]).currentKeyId.toString(16).padStart(2, '0')
const LINK = shareLinkOf('board', { website: 'acme-one', expiresAt: specTime(AT_MS + 30 * DAY_MS) })
const KEY = apiKeyOf('reader', { organization: 'acme', expiresAt: specTime(AT_MS + 30 * DAY_MS) })
const MANIFESTS =
  organizationOf('acme', { members: { 'anna@acme.dev': 'Member' } }) +
  KEY.text +
  LINK.text +
  websiteOf('acme-one', 'acme') +
  websiteOf('acme-two', 'acme')
const PERIOD = `since=${AT_MS - MINUTE_MS}&until=${AT_MS + MINUTE_MS}`

type ReadingRoute = (typeof READING_ROUTES)[number]

/** What follows the organisation in the address of each. */
const ASKED: Readonly<Record<ReadingRoute, string>> = {
  websites: 'websites',
  overview: 'overview',
  alerts: 'alerts',
  funnel: `funnel?${PERIOD}`,
  sources: `sources?by=page&${PERIOD}`,
  match: `match?website=acme-one&${PERIOD}`,
  installOutcomes: `deliveries/installs?${PERIOD}`,
  sharedCommands: `shared-commands?${PERIOD}`,
  usage: 'usage',
  checklist: 'checklist',
  setUp: 'set-up',
  logs: `logs?${PERIOD}`,
  loggedRequest: `logs/requests/acme-one/${REQUEST}`,
  loggedAttempt: `logs/attempts/acme-one/${EVENT}/${ATTEMPT}`,
  activity: 'activity?limit=1',
  visits: `visits?${PERIOD}`,
  visitCounts: `visits/counts?${PERIOD}`,
  installs: `installs?resolution=matched&${PERIOD}`,
  install: `installs/acme-one/${EVENT}`,
  find: `find?id=${EVENT}`,
  deliveries: `deliveries?${PERIOD}`,
  deliveryList: `deliveries/list?${PERIOD}`,
  logExport: `logs/export?${PERIOD}`,
  installExport: `installs/export?excel=true&${PERIOD}`,
  visitExport: `visits/export?${PERIOD}`,
  deliveryExport: `deliveries/export?${PERIOD}`,
  listReplays: 'replays',
  showReplay: `replays/${REQUEST}?from=0`,
  spend: `spend?since=${AT_MS - 3 * DAY_MS}&until=${AT_MS}`,
  spendImports: 'spend/imports',
  keyFigures: '/v1/figures?by=source&bucket=day&metrics=installs,visits&website=acme-one',
  keyInstalls: '/v1/installs?website=acme-one&filter=kind:is:none',
  sharedFigures: LINK.figures,
}

async function fill(facts: Facts): Promise<void> {
  const visits = Array.from({ length: VISITS }, (_, index) =>
    visitRecord({
      ...OF,
      visitId: KEY_ID + visitIdTime(AT_MS + index) + String(index).padStart(18, '0'),
      issuedAtMs: AT_MS + index,
      utm: { source: `source-${index}` },
    }),
  )
  const matched = { resolution: 'matched', visitId: visits[0]?.visit.visitId ?? '', visitIssuedAtMs: AT_MS } as const
  await store(facts, [
    ...visits,
    installRecord({ ...OF, ...matched, eventId: EVENT, receivedAtMs: AT_MS }),
    requestRecord({ ...OF, id: REQUEST, receivedAtMs: AT_MS, body: 'ä body' }),
    deliveryRecord({
      ...OF,
      eventId: EVENT,
      destination: 'acme-ga4',
      status: 'failed',
      reason: 'refused',
      atMs: AT_MS,
      attempt: attempt({ startedAtMs: AT_MS, attemptId: ATTEMPT }),
    }),
    {
      v: 1,
      kind: 'replay',
      id: REQUEST,
      ...OF,
      askedAtMs: AT_MS,
      sinceMs: AT_MS - MINUTE_MS,
      untilMs: AT_MS,
      policy: { policy: 'first_visit', windowMs: 30 * DAY_MS, isTokensOnly: false },
      session: 'of nobody',
    },
    ...[1, 2].map((ago) => activityRecord({ ...OF, atMs: AT_MS - ago, subject: 'Website/acme-one' })),
  ])
}

/** A person of the organisation, who reads. */
interface Reader {
  readonly stage: Stage
  readonly cookies: string
  readonly ask: (path: string) => Promise<Told>
}

async function startReader(options: Omit<StageOptions, 'manifests'>): Promise<Reader> {
  const stage = await startStage({ manifests: MANIFESTS, ...options })
  const cookies = await stage.signIn('anna@acme.dev')
  const ask = (path: string): Promise<Told> =>
    path.startsWith('/v1/') || path.startsWith('/share/')
      ? stage.ask('GET', path, { headers: KEY.headers })
      : stage.ask('GET', `/api/organizations/acme/${path}`, { cookies })
  return { stage, cookies, ask }
}

describe('reads in a thread of their own', function () {
  this.timeout(60_000)
  let facts: TestFacts
  before(async () => {
    facts = await openTestFacts()
    await fill(facts)
  })
  after(async () => {
    await facts?.close()
  })

  describe('on the engine of this process', () => {
    let here: Reader
    let apart: Reader
    before(async () => {
      here = await startReader({ facts })
      apart = await startReader({ facts, readThread: { connection: facts.connection } })
    })
    after(async () => {
      await here?.stage.stop()
      await apart?.stage.stop()
    })

    for (const route of READING_ROUTES)
      it(`answer ${route} in the same way`, async () => {
        // Some name the second or the hour of the request, and this one its millisecond.
        const shown = ({ status, text, headers }: Told) => ({
          status,
          text: text.replace(/"logsSince":\d+/, ''),
          type: headers.get('content-type'),
          file: headers.get('content-disposition'),
        })
        const told = { here: shown(await here.ask(ASKED[route])), apart: shown(await apart.ask(ASKED[route])) }
        if (told.here.text !== told.apart.text) told.here = shown(await here.ask(ASKED[route]))
        expect(told.apart).to.deep.equal(told.here)
        expect(told.apart.status).to.equal(200)
        expect(told.apart.text).not.to.equal('')
      })

    it('answer HEAD without a body, of a page and of a download', async () => {
      for (const route of ['funnel', 'installExport'] as const) {
        const address = `${apart.stage.url}/api/organizations/acme/${ASKED[route]}`
        const headers = { Cookie: apart.cookies, 'Sec-Fetch-Site': 'same-origin' }
        const response = await fetch(address, { method: 'HEAD', headers })
        expect(response.status, route).to.equal(200)
        expect(await response.text()).to.equal('')
      }
    })

    it('go on after a page, refuse a wrong cursor and a foreign website, and note downloads', async () => {
      const { next } = (await apart.ask('activity?limit=1')).body
      expect((await apart.ask(`activity?limit=1&cursor=${next}`)).body['entries']).to.have.lengthOf(1)
      expect((await apart.ask('activity?cursor=none')).status).to.equal((await here.ask('activity?cursor=none')).status)
      expect((await apart.ask('activity?cursor=none')).status).to.be.at.least(400)
      expect((await apart.ask('installs?website=other-one')).status).to.equal(404)
      const noted = async () =>
        (await apart.stage.eventLog.read('activity', 0, 100)).filter(({ value }) =>
          value.includes(`${VISITS} records were downloaded: visits with since, until.`),
        )
      const before = (await noted()).length
      await apart.ask(ASKED.visitExport)
      await until(async () => (await noted()).length > before)
      await apart.ask(ASKED.websites)
      expect(await noted()).to.have.lengthOf(before + 1)
    })
  })

  it('are unavailable while the engine is away, and say nothing of its error', async () => {
    const fail = () => Promise.reject(Object.assign(new Error('Memory limit exceeded: SELECT'), { code: '241' }))
    const reader = await startReader({
      readThread: { connection: { lines: fail } },
    })
    try {
      const told = await reader.ask(ASKED.funnel)
      expect(told.status).to.equal(503)
      expect(told.body).to.deep.equal({ error: 'unavailable' })
      expect(reader.stage.logLines.join('')).to.include('the engine did not answer (code 241)')
      expect(reader.stage.logLines.join('')).not.to.include('Memory limit')
    } finally {
      await reader.stage.stop()
    }
  })

  it('fail, and the program is told once, if their thread ends by itself', async () => {
    const failures: Error[] = []
    const onFailure = (error: Error): void => void failures.push(error)
    const reader = await startReader({ readThread: { connection: {}, secrets: ['too short'], onFailure } })
    try {
      expect((await reader.ask(ASKED.funnel)).status).to.equal(500)
      expect((await reader.ask(ASKED.visits)).status).to.equal(500)
    } finally {
      await reader.stage.stop()
    }
    expect(failures).to.have.lengthOf(1)
    expect(failures[0]?.message).to.include('master secret 1 is shorter than')
  })

  it('end with an entry for each download that ends at the same time', async () => {
    const noted: unknown[] = []
    const thread = openReadThread({
      connection: facts.connection,
      facts,
      directory: { websites: () => [] },
      nowMs: Date.now,
    })
    const noteActivity = async ({ message }: { readonly message: string }) => void noted.push(message)
    const handlers = thread.handlers({ control: { noteActivity } } as never)
    const organization = { id: 'acme', logRetentionDays: 30, installPaths: [] }
    const outcome = await handlers.visitExport({
      requestId: 'one',
      nowMs: Date.now(),
      params: {},
      query: {},
      search: new URLSearchParams(),
      body: {},
      session: { person: 'p_1' },
      scope: { organization, role: 'Member' },
      raw: null,
      signal: new AbortController().signal,
    } as never)
    if (outcome.kind !== 'stream') throw new Error(`answered ${outcome.kind}`)
    await outcome.chunks[Symbol.asyncIterator]().next()
    outcome.onEnd?.()
    await thread.close()
    expect(noted).to.deep.equal(['0 records were downloaded: visits without filters.'])
    const late = await handlers.websites({ requestId: 'two' } as never).catch((error: unknown) => error)
    expect(late).to.include({ message: 'the thread of reads has ended' })
  })
})
