/** The list of visits holds exactly those that figures count, whichever number leads to it. */

import { expect } from 'chai'

import { LATER_STEPS } from '../../dashboard/api/visits.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import type { LogRecord } from '../../domain/records.ts'
import { visitIdTime } from '../../domain/receipt.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import {
  activationRecord,
  decisionRecord,
  handoffRecord,
  installRecord,
  visitRecord,
} from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { SECRET } from './support/stage.ts'
import { MINE, ROOT, startTwoOrganizations, type TwoOrganizations } from './support/two-organizations.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const NOW_MS = Date.now()
const KEY_ID = createKeyring([SECRET]).currentKeyId.toString(16).padStart(2, '0')
/** A key that is in use no longer: only older visits have it. */
const OLD_KEY_ID = '0e'

let serial = 0
const idAt = (ms: number, keyId = KEY_ID): string => keyId + visitIdTime(ms) + (serial++).toString(16).padStart(18, '0')

const SOURCES = ['newsletter', 'google', ''] as const
const PAGES = ['/install', '/docs'] as const

/** The more of its number is even, the further a visit came; one command was run on three machines, one install was decided later. */
function story(atMs: number, index: number): readonly LogRecord[] {
  const visitId = idAt(atMs, index % 10 === 9 && atMs < NOW_MS - DAY_MS ? OLD_KEY_ID : KEY_ID)
  const about = { website: MINE.website, visitId, issuedAtMs: atMs }
  const source = SOURCES[index % SOURCES.length]!
  const utm = source === '' ? {} : { source }
  const pageUrl = `https://acme.dev${PAGES[index % PAGES.length]!}?from=${index}`
  const records: LogRecord[] = [visitRecord({ ...about, ...MINE, utm, pageUrl, origin: 'https://acme.dev' })]
  if (index % 4 !== 3) records.push(activationRecord(about))
  if (index % 2 === 0) records.push(handoffRecord(about))
  const chosen = { visitId, visitIssuedAtMs: atMs, resolution: 'matched', selectionPolicy: 'handoff' } as const
  const install = (changes = {}) => installRecord({ ...MINE, ...chosen, receivedAtMs: atMs + 61_000, ...changes })
  if (index % 6 === 0) records.push(...[1, 2, 3].map(() => install({ agent: 'claude-code' })))
  if (index % 8 === 2) records.push(install(), install({ eventType: 'first_run', receivedAtMs: atMs + 900_000 }))
  if (index % 8 === 4) {
    const pending = installRecord({ ...MINE, receivedAtMs: atMs + 61_000, resolution: 'pending' })
    records.push(pending, decisionRecord(pending, { visitId, visitIssuedAtMs: atMs }))
  }
  return records
}

describe('the list of visits', function () {
  this.timeout(120_000)
  let both: TwoOrganizations
  before(async () => {
    both = await startTwoOrganizations(['acme-one'])
    const records = [0, 3, 40].flatMap((days) =>
      Array.from({ length: 24 }, (_, index) =>
        story(NOW_MS - days * DAY_MS - 20 * MINUTE_MS - index * 1_000, index + days),
      ).flat(),
    )
    await storeCounted(both.facts, records, Date.now)
    await rollUp({ facts: both.facts, nowMs: Date.now })
  })
  after(() => both?.stop())

  type Row = Readonly<Record<string, any>>
  const read = async (path: string): Promise<Row> => (await both.get(path)).body
  /** Every visit of a list, page by page, by its ID. */
  async function listed(query: string): Promise<readonly Row[]> {
    const rows: Row[] = []
    for (let cursor = ''; ;) {
      const page = await read(`visits?${query}${cursor}`)
      rows.push(...(page['visits'] as Row[]))
      if (page['next'] === null) break
      cursor = `&cursor=${page['next']}`
    }
    expect(new Set(rows.map(({ visit }) => visit.visit_id)).size, query).to.equal(rows.length)
    return rows
  }

  for (const days of [1, 90]) {
    const period = `since=${NOW_MS - days * DAY_MS}&until=${NOW_MS}`

    it(`holds as many of each step as the funnel of ${days} days counts, in all and by day`, async () => {
      const funnel = await read(`funnel?${period}`)
      const bounds = `since=${funnel['since']}&until=${funnel['until']}`
      const total = funnel['total'] as Readonly<Record<string, number>>
      expect((await listed(bounds)).length)
        .to.equal(total['visits'])
        .and.be.greaterThan(0)
      for (const step of LATER_STEPS) {
        const rows = await listed(`${bounds}&step=${step}`)
        expect(rows.length, step).to.equal(total[step])
        for (const { reached } of rows) expect(reached).to.include(step)
      }
      const steps = funnel['steps'] as readonly Record<string, number>[]
      for (const { at, until, copied } of steps.filter(({ visits }) => visits !== 0)) {
        expect((await listed(`since=${at}&until=${until}&step=copied`)).length).to.equal(copied)
      }
    })

    for (const by of ['source', 'page', 'referrer'])
      it(`holds as many of each ${by} as the sources of ${days} days count`, async () => {
        const sources = await read(`sources?by=${by}&${period}`)
        const bounds = `since=${sources['since']}&until=${sources['until']}`
        const rows = (sources['rows'] as Row[]).filter(({ row }) => row !== 'no_visit' && row !== 'pending')
        for (const { value, visits: counted } of rows) {
          const { visits, copied, installed } = counted
          const own = `${bounds}&filter=${by}:is:${encodeURIComponent(value)}`
          const counts = [
            (await listed(own)).length,
            (await listed(`${own}&step=copied`)).length,
            (await listed(`${own}&step=installed`)).length,
          ]
          expect(counts, value).to.deep.equal([visits, copied, installed])
        }
      })
  }

  it('stands beside a list of installs that holds as many as each number of installs counts', async () => {
    const match = await read(`match?since=${NOW_MS - 7 * DAY_MS}`)
    const count = async (query: string): Promise<number> => {
      let all = 0
      let cursor = ''
      for (;;) {
        const page = await read(`installs?since=${match['since']}&until=${match['until']}&${query}${cursor}`)
        all += (page['installs'] as Row[]).length
        if (page['next'] === null) return all
        cursor = `&cursor=${page['next']}`
      }
    }
    expect(await count('kind=install')).to.equal(match['total'].installs)
    for (const by of ['path', 'platform', 'agent'])
      for (const { value, installs, matched } of match[by] as Row[]) {
        expect(await count(`kind=install&filter=${by}:is:${value}`), `${by} ${value}`).to.equal(installs)
        expect(await count(`kind=install&filter=${by}:is:${value}&resolution=matched`), `${by} ${value}`).to.equal(
          matched,
        )
      }
    const byAgents = (match['agent'] as Row[]).filter(({ row }) => row === 'value')
    expect(await count('kind=install&ranBy=agent')).to.equal(byAgents.reduce((sum, { installs }) => sum + installs, 0))
    expect(match['agentPages']).not.to.deep.equal([])
    for (const { agent, page, installs } of match['agentPages'] as Row[]) {
      const own = `kind=install&filter=agent:is:${agent}&filter=page:is:${encodeURIComponent(page)}`
      expect(await count(own), own).to.equal(installs)
    }
    for (const by of ['source', 'campaign'])
      for (const { row, value, installs } of (await read(`sources?by=${by}&since=${NOW_MS - 7 * DAY_MS}`))[
        'rows'
      ] as Row[]) {
        if (row === 'no_visit') expect(await count('kind=install&resolution=unmatched'), row).to.equal(installs)
        else expect(await count(`kind=install&filter=${by}:is:${value}`), `${by} ${row} ${value}`).to.equal(installs)
      }
    for (const [place, { fromSeconds, installs }] of (match['timeToInstall'] as Row[]).entries()) {
      if (installs === 0) continue
      const below = match['timeToInstall'][place + 1]?.fromSeconds
      const age = `leastVisitAge=${fromSeconds}${below === undefined ? '' : `&visitAgeBelow=${below}`}`
      expect(await count(`kind=install&resolution=matched&${age}`), age).to.equal(installs)
    }
  })

  it('is counted as a whole by any filters at once, in slices that add up', async () => {
    const bounds = `since=${NOW_MS - 90 * DAY_MS}&until=${NOW_MS}`
    const counted = async (query: string): Promise<Row> => {
      const sums: Record<string, number> = {}
      for (let cursor = ''; ;) {
        const { counts, countedBackTo, next } = await read(`visits/counts?${bounds}&${query}${cursor}`)
        for (const [step, count] of Object.entries(counts as Row)) sums[step] = (sums[step] ?? 0) + (count as number)
        if (next === null) {
          expect(countedBackTo).to.equal(NOW_MS - 90 * DAY_MS)
          return sums
        }
        cursor = `&cursor=${next}`
      }
    }
    const total = (await read(`funnel?${bounds}`))['total']
    expect(await counted('')).to.deep.equal(total)
    const page = encodeURIComponent('https://acme.dev/install')
    for (const query of [
      `filter=source:is:newsletter&filter=page:is:${page}`,
      `filter=source:is:&filter=page:is:${page}&step=copied`,
      'agent=claude-code',
    ]) {
      const rows = await listed(`${bounds}&${query}`)
      const reached = (step: string): number => rows.filter((row) => row['reached'].includes(step)).length
      const steps = LATER_STEPS.map((step) => [step, reached(step)])
      expect(rows.length, query).to.be.greaterThan(0)
      expect(await counted(query), query).to.deep.equal({ visits: rows.length, ...Object.fromEntries(steps) })
    }
    expect((await read(`visits/counts?${bounds}&filter=source:is:nobody`))['counts'].visits).to.equal(0)
    expect((await read('visits/counts?step=first_run'))['counts'].visits).to.be.greaterThan(0)
    expect((await both.get('visits/counts?cursor=nothing')).status).to.equal(400)
  })

  it('says since when Logs are kept, and shows nobody the visits of others', async () => {
    const { logsSince } = await read('visits')
    expect(logsSince).to.be.within(NOW_MS - 30 * DAY_MS, NOW_MS - 29 * DAY_MS)
    expect((await both.get('visits', both.bert, 'other')).body['visits']).to.deep.equal([])
    expect((await both.get('visits?website=other-one')).status).to.equal(404)
    expect((await both.get('visits?step=visits')).status).to.equal(400)
    expect(await listed('since=1&until=9999999999999')).to.have.lengthOf((await listed('since=1')).length)
    expect((await both.get('visits?cursor=nothing')).status).to.equal(400)
  })

  it('is downloaded as it is shown, with the steps of each visit', async () => {
    const since = NOW_MS - 7 * DAY_MS
    const rows = await listed(`since=${since}&step=installed`)
    const { text, headers } = await both.get(`visits/export?since=${since}&step=installed`)
    expect(headers.get('content-disposition')).to.equal('attachment; filename="visits.csv"')
    const lines = text.trimEnd().split('\r\n')
    expect(lines.at(-1)).to.equal(`# ${rows.length} visits`)
    expect(lines[0]).to.match(
      /^visit_at,website,visit_id,page_url,.*,activated,copied,started,installed,first_run,converted$/,
    )
    expect(lines.slice(1, -1).map((line) => line.split(',')[2])).to.deep.equal(
      rows.map(({ visit }) => visit.visit_id as string),
    )
    expect((await both.get('visits/export', both.vera)).status).to.equal(403)
    expect(await both.stage.ask('GET', `${ROOT}/acme/visits/export`, { cookies: both.vera })).to.have.property(
      'status',
      403,
    )
  })
})
