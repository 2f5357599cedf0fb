/** What whoever has a link sees, over real facts: the numbers of the Overview, and nothing that names anything else. */

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'
import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { until } from '../../fixtures/until.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { OF, unmatchedAt, visitOf } from './support/sourced.ts'
import {
  organizationOf,
  shareLinkOf,
  specTime,
  startStage,
  SHARE_PAGE,
  websiteOf,
  type Stage,
} from './support/stage.ts'

/** No day ends while this runs. */
const clock = middayClock()
const NOW_MS = clock()
const EXPIRES_AT = specTime(NOW_MS + 30 * DAY_MS)
const ago = (days: number): number => NOW_MS - days * DAY_MS - 2 * HOUR_MS
const linkOf = (name: string, more = 'period: Last28Days') =>
  shareLinkOf(name, { website: OF.website, expiresAt: EXPIRES_AT, more })

const BOARD = linkOf('board', 'displayName: For the board, period: Last28Days')
const LAUNCH = linkOf('launch', 'period: Last7Days, filters: [{ field: campaign, is: [launch] }]')
const NARROW = linkOf(
  'narrow',
  'period: Last90Days, filters: [{ field: source, isNot: [news], contains: [forum] }, { field: version, is: [2.0.0] }]',
)
/** The same as an address of the Overview has it. */
const ASKED = [
  [BOARD, 'period=Last28Days'],
  [LAUNCH, 'period=Last7Days&filter=campaign:is:launch'],
  [NARROW, 'period=Last90Days&filter=source:is_not:news&filter=source:contains:forum&filter=version:is:2.0.0'],
] as const
const ENDING = shareLinkOf('ending', { website: OF.website, expiresAt: specTime(NOW_MS + DAY_MS) })
const COUNTED = linkOf('counted')
const KEPT = linkOf('kept')
const ELSEWHERE = shareLinkOf('elsewhere', { website: 'quiet-site', expiresAt: EXPIRES_AT })
const UNKNOWN = `/share/whs_${'A'.repeat(43)}`

/** Every text of an answer, at any depth, and the names of its members. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return [...Object.keys(value), ...Object.values(value).flatMap(textsIn)]
}

describe('what a link shares', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  let elapsedMs = 0
  const records = [
    ...visitOf({ atMs: ago(1), source: 'news', campaign: 'launch', installs: 3 }),
    ...visitOf({ atMs: ago(2), source: 'forum', campaign: 'launch', installs: 1, version: '2.0.0' }),
    ...visitOf({ atMs: ago(3) }),
    unmatchedAt(ago(4)),
    ...visitOf({ atMs: ago(40), source: 'forum', campaign: 'old', installs: 2, version: '2.0.0' }),
  ]
  before(async () => {
    facts = await openTestFacts()
    const links = [BOARD, LAUNCH, NARROW, ENDING, COUNTED, KEPT, ELSEWHERE].map(({ text }) => text)
    const manifests =
      organizationOf('acme', { members: { 'anna@acme.dev': 'Member' } }) +
      websiteOf(OF.website, 'acme').replace('displayName: acme-site', 'displayName: Acme') +
      websiteOf('quiet-site', 'acme') +
      links.join('')
    stage = await startStage({ manifests, facts, clock, elapsedMs: () => elapsedMs })
    cookies = await stage.signIn('anna@acme.dev')
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = (path: string, headers: Readonly<Record<string, string>> = {}, address = '192.0.2.9') =>
    stage.ask('GET', path, { headers, address })
  const figuresOf = async (path: string) => (await read(path)).body['figures']

  for (const [link, query] of ASKED) {
    it(`is what the Overview answers to ${query}`, async () => {
      const address = `/api/organizations/acme/overview?website=${OF.website}&${query}`
      const { installs: _list, checklist: _steps, ...overview } = (await stage.ask('GET', address, { cookies })).body
      const annotations = overview['annotations'].filter(({ kind }: { kind: string }) => kind === 'version')
      expect(await figuresOf(link.figures)).to.deep.equal({ ...overview, annotations })
      expect(overview['total'].installs.installs).to.be.greaterThan(0)
    })
  }

  it('has a title, the name of the website, its period and its filters', async () => {
    const { figures: _figures, ...head } = (await read(BOARD.figures)).body
    expect(head).to.deep.equal({ title: 'For the board', website: 'Acme', period: 'Last28Days', filter: [] })
    expect((await read(LAUNCH.figures)).body['filter']).to.deep.equal(['campaign:is:launch'])
  })

  it('names no visit, install, machine, object or person, and lists nothing', async () => {
    const texts = textsIn((await read(BOARD.figures)).body)
    const ids = records.flatMap((record) =>
      record.kind === 'visit'
        ? [record.visit.visitId]
        : [record.install.eventId, record.install.installationId, record.install.visitId],
    )
    const names = [...ids, OF.website, 'quiet-site', 'acme-0', 'anna@acme.dev', 'acme'].filter((id) => id !== '')
    for (const text of texts) for (const name of names) expect(text).not.to.include(name)
    for (const name of ['installs', 'checklist', 'website_id', 'visit_id']) {
      const { figures } = (await read(BOARD.figures)).body
      expect(Array.isArray(figures[name]), name).to.equal(false)
    }
    expect(texts.filter((text) => /[0-9a-f]{16}|@|whs_|p_[0-9a-f]/.test(text))).to.deep.equal([])
  })

  it('takes no other website, period, filter or step', async () => {
    for (const query of [
      'website=quiet-site',
      'period=Today',
      'filter=campaign:is:old',
      'compare=off',
      'bucket=hour',
      'since=0',
    ]) {
      const told = await read(`${BOARD.figures}?${query}`)
      expect([told.status, told.body['error']], query).to.deep.equal([400, 'invalid_field'])
    }
    expect((await read(`${BOARD.page}?metric=visits`)).status).to.equal(200)
  })

  it('gives one answer to every address that opens nothing', async () => {
    const answersOf = async (path: string, accept: string) => {
      const { status, text, headers } = await read(path, { Accept: accept }, '192.0.2.77')
      const fixed = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))
      return { status, text: text.replaceAll(/request [0-9a-f]+/g, ''), fixed }
    }
    const others = [
      ENDING.page.slice('/share/'.length),
      `${BOARD.page.slice('/share/'.length)}x`,
      `whk_${'A'.repeat(43)}`,
      'board',
      '%00',
    ]
    const cases = ['', '/figures'].flatMap((end) =>
      ['application/json', 'text/html'].map((accept) => [end, accept] as const),
    )
    stage.advance(2 * DAY_MS)
    try {
      for (const [end, accept] of cases) {
        const expected = await answersOf(`${UNKNOWN}${end}`, accept)
        expect(expected.status).to.equal(404)
        for (const token of others)
          expect(await answersOf(`/share/${token}${end}`, accept), token).to.deep.equal(expected)
      }
    } finally {
      stage.advance(-2 * DAY_MS)
    }
  })

  it('is open to whoever follows the link, needs no cookie and sets none', async () => {
    const foreign = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', Accept: 'text/html' }
    const page = await read(BOARD.page, foreign)
    expect([page.status, page.text, page.cookies]).to.deep.equal([200, SHARE_PAGE, ''])
    const told = await read(BOARD.figures, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' })
    expect([told.status, told.cookies]).to.deep.equal([200, ''])
    expect([...told.headers.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([])
  })

  it('tells search engines and other websites nothing', async () => {
    for (const path of [BOARD.page, BOARD.figures, UNKNOWN, `${UNKNOWN}/figures`, `${BOARD.page}/x/y`, '/share/']) {
      const { headers } = await read(path, { Accept: 'text/html' })
      expect(headers.get('x-robots-tag'), path).to.equal('noindex, nofollow')
      expect(headers.get('referrer-policy'), path).to.equal('no-referrer')
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff')
      expect(headers.get('cross-origin-resource-policy'), path).to.equal('same-origin')
    }
    const told = await stage.ask('POST', BOARD.figures)
    expect([told.status, told.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
  })

  it('is counted once a minute, and browsers keep it no longer', async () => {
    const first = await read(KEPT.figures)
    expect(first.headers.get('cache-control')).to.equal('private, max-age=60')
    const before = first.body['figures'].total.installs.installs
    await storeCounted(facts, [unmatchedAt(NOW_MS - 3 * HOUR_MS)], clock)
    await rollUp({ facts, nowMs: clock })
    elapsedMs += LIMITS.shareCacheS * SECOND_MS - 1_500
    const kept = await read(KEPT.figures)
    expect(kept.body).to.deep.equal(first.body)
    expect(kept.headers.get('cache-control')).to.equal('private, max-age=1')
    elapsedMs += 1_500
    expect((await figuresOf(KEPT.figures)).total.installs.installs).to.equal(before + 1)
  })

  it('is answered 60 times a minute for a link and address', async () => {
    const statusesOf = async (path: string, address: string, count = 2 * RATE_RULES.share_reads.limit + 1) =>
      Promise.all(Array.from({ length: count }, async () => (await read(path, {}, address)).status))
    const own = await statusesOf(COUNTED.figures, '10.8.0.1')
    expect(own).to.include(429)
    // A new minute may begin in between.
    expect(own.filter((status) => status === 200).length).to.be.within(60, 120)
    expect(await statusesOf(COUNTED.figures, '10.8.0.2', 1)).to.deep.equal([200])
    expect(await statusesOf(BOARD.figures, '10.8.0.1', 1)).to.deep.equal([200])
    const lines = (await stage.eventLog.read('requests', 0, 200)).map(({ value }) => String(value))
    expect(lines.join()).to.include('/share/:token/figures').and.not.include(COUNTED.page)
  })

  it('lets an address try 600 tokens a minute', async () => {
    const count = 2 * RATE_RULES.dashboard_reads.limit + 1
    const tries = await Promise.all(
      Array.from({ length: count }, async (_, place) => {
        const token = `whs_${String(place).padStart(42, 'B')}A`
        return (await read(`/share/${token}${place % 2 === 0 ? '' : '/figures'}`, {}, '10.8.1.1')).status
      }),
    )
    expect(new Set(tries)).to.deep.equal(new Set([404, 429]))
  })

  it('ends with its link, on time and without a change of any object', async () => {
    expect((await read(ENDING.figures)).status).to.equal(200)
    stage.advance(DAY_MS)
    try {
      expect((await read(ENDING.figures)).status).to.equal(404)
      expect((await read(ENDING.page)).status).to.equal(404)
      expect((await read(BOARD.figures)).status).to.equal(200)
    } finally {
      stage.advance(-DAY_MS)
    }
  })

  it('ends when its object or its website is gone, however lately it was read', async () => {
    const late = linkOf('late')
    await stage.apply('link.yaml', late.text.slice('---\n'.length))
    await until(async () => (await read(late.figures)).status === 200)
    await stage.apply('link.yaml', '')
    await until(async () => (await read(late.figures)).status === 404)
    const there = shareLinkOf('there', { website: 'brief-site', expiresAt: EXPIRES_AT })
    await stage.apply('site.yaml', (websiteOf('brief-site', 'acme') + there.text).slice('---\n'.length))
    await until(async () => (await read(there.figures)).status === 200)
    await stage.apply('site.yaml', '')
    await until(async () => (await read(there.figures)).status === 404)
  })

  it('counts nothing of another website of the organisation', async () => {
    const { total } = await figuresOf(ELSEWHERE.figures)
    expect([total.installs.installs, total.visits.visits]).to.deep.equal([0, 0])
    elapsedMs += MINUTE_MS
  })
})
