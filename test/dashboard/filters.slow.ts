/** Filters of figures over real facts: under each, every page counts what the traffic itself says, from sums of hours or one by one. */

import { expect } from 'chai'

import { rollUp } from '../../delivery/rollup/rollup.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { areFilters, readFilters, type FigureFilter } from '../../domain/figures/filters.ts'
import type { LogRecord } from '../../domain/records.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { deliveryRecord, installRecord, visitRecord } from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, SECRET, startStage, type Stage, websiteOf } from './support/stage.ts'

const clock = middayClock()
const NOW_MS = clock()
const KEY_ID = createKeyring([SECRET]).currentKeyId
const OF = { website: 'acme-site', organization: 'acme' }
const SOURCES = ['news', 'Newsweek, weekly', 'forum', '']
const CAMPAIGNS = ['launch', 'autumn', '']
const PAGES = ['/', '/install', '/docs/start']
const VERSIONS = ['1.0.0', '2.0.0-beta']

/** What the traffic says of a visit, and of an install, which may have none. */
interface Visited {
  readonly source: string
  readonly campaign: string
  readonly pages: readonly string[]
}
interface Installed {
  readonly version: string
  readonly visit: Visited | null
}

const visits: Visited[] = []
const installs: Installed[] = []

/** In this order every value meets every other. */
function traffic(): readonly LogRecord[] {
  const records: LogRecord[] = []
  let serial = 0
  const install = (atMs: number, version: string, visitId: string | null, issuedAtMs: number): void => {
    const matched = { resolution: 'matched', selectionPolicy: 'handoff', visitId, visitIssuedAtMs: issuedAtMs } as const
    const eventId = `event-${serial++}`
    const at = { ...OF, eventId, installationId: `machine-${serial}`, receivedAtMs: atMs, productVersion: version }
    records.push(
      installRecord({ ...at, ...(visitId === null ? {} : matched) }),
      deliveryRecord({ ...OF, eventId, destination: 'acme-ga4', status: 'delivered', atMs }),
    )
  }
  for (let place = 0; place < 72; place += 1) {
    const source = SOURCES[place % 4] ?? ''
    const campaign = CAMPAIGNS[place % 3] ?? ''
    const seen = PAGES.slice(0, 1 + (place % 3)).map((page) => `https://acme.dev${page}`)
    // The last of them are of the present hour, which is not rolled up.
    const atMs = place < 68 ? NOW_MS - (place % 6) * DAY_MS - (2 + (place % 5)) * HOUR_MS : NOW_MS - 40 * MINUTE_MS
    const idAt = (ms: number): string =>
      `${KEY_ID.toString(16).padStart(2, '0')}${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`
    const ids = seen.map((pageUrl, view) => {
      const issuedAtMs = atMs + view * MINUTE_MS
      const visitId = idAt(issuedAtMs)
      const sitting = `sitting-${String(place).padStart(14, '0')}`
      const about = { ...OF, visitId, issuedAtMs, sitting, isEntry: view === 0, pageUrl, utm: { source, campaign } }
      records.push(visitRecord(about))
      return { visitId, issuedAtMs }
    })
    const visit = { source, campaign, pages: seen }
    visits.push(visit)
    const [first = { visitId: '', issuedAtMs: 0 }] = ids
    for (let own = 0; own < place % 3; own += 1) {
      const version = VERSIONS[(place + own) % 2] ?? ''
      install(atMs + 5 * MINUTE_MS, version, first.visitId, first.issuedAtMs)
      installs.push({ version, visit })
    }
    if (place % 5 === 0) {
      install(atMs, VERSIONS[place % 2] ?? '', null, 0)
      installs.push({ version: VERSIONS[place % 2] ?? '', visit: null })
    }
  }
  return records
}

/** By the traffic itself, without the product's own code but its parser. */
function fits(value: string | readonly string[] | null, { op, values }: FigureFilter): boolean {
  const own = value === null ? [] : [value].flat()
  const isIn = own.some((each) =>
    values.some((one) => (op === 'contains' ? each.toLowerCase().includes(one.toLowerCase()) : each === one)),
  )
  return op === 'is_not' ? !isIn : isIn
}

function filtersOf(query: string): readonly FigureFilter[] {
  const read = readFilters(new URLSearchParams(query).getAll('filter'))
  if (!areFilters(read)) throw new Error(query)
  return read
}

const isVisit = (visit: Visited, filters: readonly FigureFilter[]): boolean =>
  filters.every((each) =>
    fits(each.dimension === 'page' ? visit.pages : visit[each.dimension as 'source' | 'campaign'], each),
  )

/** An install counts for the page view that it is tied to, here the first one. */
const isInstall = ({ version, visit }: Installed, filters: readonly FigureFilter[]): boolean =>
  filters.every((each) => {
    if (each.dimension === 'version') return fits(version, each)
    if (visit === null) return fits(null, each)
    return fits(each.dimension === 'page' ? (visit.pages[0] ?? '') : visit[each.dimension as 'source'], each)
  })

const COMMA = encodeURIComponent(String.raw`\,`)
const INSTALL_PAGE = encodeURIComponent('https://acme.dev/install')
const START_PAGE = encodeURIComponent('https://acme.dev/docs/start')
/** On visits: sums of hours, and read one by one. */
const ON_VISITS = [
  '',
  'filter=source:is:news',
  'filter=source:is:',
  `filter=source:is:news,Newsweek${COMMA} weekly`,
  'filter=source:is_not:news',
  'filter=source:is_not:news,',
  'filter=campaign:contains:UN',
  'filter=source:contains:news',
  `filter=page:is:${INSTALL_PAGE}`,
  `filter=page:is_not:${INSTALL_PAGE}`,
  `filter=page:is:${INSTALL_PAGE},${START_PAGE}`,
  `filter=page:is_not:${INSTALL_PAGE},${START_PAGE}`,
  'filter=page:contains:/docs/',
  'filter=source:is:news&filter=campaign:is_not:launch',
  `filter=source:contains:news&filter=campaign:is:launch,&filter=page:contains:install`,
]
const ON_INSTALLS = [
  'filter=version:is:1.0.0',
  'filter=version:contains:beta',
  'filter=version:is_not:1.0.0&filter=source:is:news',
  'filter=source:is_not:news&filter=version:is:1.0.0,2.0.0-beta',
]

const PERIOD = `since=${NOW_MS - 8 * DAY_MS}&until=${NOW_MS + HOUR_MS}`

describe('filters of figures', function () {
  this.timeout(180_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  before(async () => {
    facts = await openTestFacts()
    const members = { 'anna@acme.dev': 'Viewer' }
    stage = await startStage({
      manifests: organizationOf('acme', { members }) + websiteOf(OF.website, 'acme'),
      facts,
      clock,
    })
    cookies = await stage.signIn('anna@acme.dev')
    await storeCounted(facts, traffic(), clock)
    await rollUp({ facts, nowMs: clock })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (page: string) => {
    const { status, body } = await stage.ask('GET', `/api/organizations/acme/${page}`, { cookies })
    expect(status, page).to.equal(200)
    return body
  }
  const sum = (rows: readonly any[], of: (row: any) => number): number => rows.reduce((all, row) => all + of(row), 0)
  const list = async (path: string, name: string): Promise<readonly any[]> => {
    const rows: any[] = []
    for (let cursor = ''; ;) {
      const body = await read(`${path}${cursor}`)
      rows.push(...body[name])
      if (body['next'] === null) return rows
      cursor = `&cursor=${body['next']}`
    }
  }

  it('count on every page the visits and installs that the traffic has of them', async () => {
    for (const query of [...ON_VISITS, ...ON_INSTALLS]) {
      const filters = filtersOf(query)
      const own = installs.filter((install) => isInstall(install, filters)).length
      const overview = await read(`overview?${PERIOD}&${query}`)
      const sources = await read(`sources?${PERIOD}&by=source&${query}`)
      const match = await read(`match?${PERIOD}&${query}`)
      expect(overview['total'].installs.installs, query).to.equal(own)
      expect(match['total'].installs, query).to.equal(own)
      expect(sources['total'].installs, query).to.equal(own)
      expect(
        sum(sources['rows'], (row) => row.installs),
        query,
      ).to.equal(own)
      expect(
        sources['total'].trend.reduce((all: number, part: number) => all + part, 0),
        query,
      ).to.equal(own)
      for (const row of sources['rows'])
        expect(
          row.trend.reduce((all: number, part: number) => all + part, 0),
          query,
        ).to.equal(row.installs)
      const listed = await list(`installs?${PERIOD}&kind=install&${query}`, 'installs')
      expect(listed.length, query).to.equal(own)
      if (ON_INSTALLS.includes(query)) {
        expect(overview['visitsLeftOut'], query).to.equal('install_filter')
        expect((await read(`funnel?${PERIOD}&${query}`))['total'], query).to.equal(null)
        continue
      }
      const visited = visits.filter((visit) => isVisit(visit, filters)).length
      const funnel = await read(`funnel?${PERIOD}&${query}`)
      expect(overview['total'].visits.visits, query).to.equal(visited)
      expect(funnel['total'].visits, query).to.equal(visited)
      expect(
        sum(funnel['steps'], ({ visits: count }) => count),
        query,
      ).to.equal(visited)
      expect(
        sum(overview['steps'], (step) => step.visits.visits),
        query,
      ).to.equal(visited)
      expect(sources['total'].visits.visits, query).to.equal(visited)
      expect(
        sum(sources['rows'], (row) => row.visits.visits),
        query,
      ).to.equal(visited)
      expect((await list(`visits?${PERIOD}&${query}`, 'visits')).length, query).to.equal(visited)
      const counts = await read(`visits/counts?${PERIOD}&${query}`)
      expect([counts['counts'].visits, counts['next']], query).to.deep.equal([visited, null])
    }
  })

  it('and their opposites count everything together', async () => {
    for (const filter of ['source', 'campaign', 'version']) {
      const values = filter === 'source' ? 'news,forum' : filter === 'campaign' ? 'launch,' : '1.0.0'
      const one = await read(`match?${PERIOD}&filter=${filter}:is:${values}`)
      const other = await read(`match?${PERIOD}&filter=${filter}:is_not:${values}`)
      expect(one['total'].installs + other['total'].installs, filter).to.equal(installs.length)
    }
  })

  it('choose deliveries by the installs that they are of, in the counts and in the list', async () => {
    for (const query of [...ON_VISITS, ...ON_INSTALLS]) {
      const filters = filtersOf(query)
      const own = installs.filter((install) => isInstall(install, filters)).length
      const { groups } = await read(`deliveries?${PERIOD}&${query}`)
      expect(
        sum(groups, ({ deliveries }) => deliveries),
        query,
      ).to.equal(own)
      expect((await list(`deliveries/list?${PERIOD}&${query}`, 'deliveries')).length, query).to.equal(own)
    }
  })

  it('are refused where they are of another form, and on visits where they are about machines', async () => {
    const refused = async (page: string) => {
      const { status, body } = await stage.ask('GET', `/api/organizations/acme/${page}`, { cookies })
      return [status, body['field']]
    }
    for (const page of ['overview', 'funnel', 'sources', 'match', 'installs', 'visits', 'visits/counts', 'deliveries'])
      expect(await refused(`${page}?filter=colour:is:red`), page).to.deep.equal([400, '/filter'])
    expect(await refused('visits?filter=version:is:1')).to.deep.equal([400, '/filter'])
    expect(await refused('overview?source=news')).to.deep.equal([400, '/source'])
  })
})
