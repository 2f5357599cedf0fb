/** Pages of figures over real facts: the present hours raw, earlier ones from their rollups, and each organisation sees only its own. */

import { expect } from 'chai'

import { trafficOfDay } from '../../bin/example-data/traffic.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { middayClock } from '../../fixtures/clocks.ts'
import type { LogRecord } from '../../domain/records.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import {
  activationRecord,
  activityRecord,
  handoffRecord,
  installRecord,
  visitRecord,
} from '../contract/fact-samples.ts'
import { storeCounted } from '../support/counted.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import type { SourceFigure } from '../../dashboard/figures/answers.ts'
import { organizationOf, SECRET, startStage, type Stage, websiteOf } from './support/stage.ts'

const HOUR_MS = 3_600_000
/** The pages count by this clock too: a day that ended after `NOW_MS` would move what they show. */
const clock = middayClock()
const NOW_MS = clock()
const KEY_ID = createKeyring([SECRET]).currentKeyId

const MONTH_MS = Date.UTC(new Date(NOW_MS).getUTCFullYear(), new Date(NOW_MS).getUTCMonth())
const MONTH_BEFORE_MS = Date.UTC(new Date(NOW_MS).getUTCFullYear(), new Date(NOW_MS).getUTCMonth() - 1)

let serial = 0
const idAt = (ms: number): string =>
  `${KEY_ID.toString(16).padStart(2, '0')}${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`

/** A visit that was activated and copied, and led to an install by an agent two minutes later. */
function story(site: string, atMs: number, source: string) {
  const visitId = idAt(atMs)
  const organization = site.replace('-site', '')
  const about = { website: site, organization, visitId, issuedAtMs: atMs }
  const outcome = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId, visitIssuedAtMs: atMs } as const
  return [
    visitRecord({ ...about, utm: { source } }),
    activationRecord(about),
    handoffRecord(about),
    installRecord({ website: site, organization, receivedAtMs: atMs + 120_000, agent: 'claude-code', ...outcome }),
  ]
}

const TRIAL = { website: 'trial-site', organization: 'trial' }
/** Its first website was deleted, and another one was made. */
const MOVED = { organization: 'moved', website: 'moved-before' }
const TODAY_MS = Math.floor(NOW_MS / (24 * HOUR_MS)) * 24 * HOUR_MS

/** As `npm run -s example-data` fills it in, of one day. */
function madeUpTraffic(): readonly LogRecord[] {
  const day = trafficOfDay({ ...TRIAL, seed: 1, dayMs: TODAY_MS - 24 * HOUR_MS, untilMs: TODAY_MS, keyId: KEY_ID })
  return [...day, activityRecord({ ...TRIAL, type: 'example_data', subject: TRIAL.website, atMs: NOW_MS })]
}

describe('pages of figures', function () {
  this.timeout(120_000)
  let facts: TestFacts
  let stage: Stage
  let cookies: string
  before(async () => {
    facts = await openTestFacts()
    const manifests = [
      organizationOf('acme', { members: { 'anna@acme.dev': 'Viewer' } }) + websiteOf('acme-site', 'acme'),
      organizationOf('other', { members: { 'bert@other.dev': 'Owner' } }) + websiteOf('other-site', 'other'),
      organizationOf('trial', { members: { 'anna@acme.dev': 'Viewer' } }) + websiteOf('trial-site', 'trial'),
      organizationOf('moved', { members: { 'anna@acme.dev': 'Viewer' } }) + websiteOf('moved-site', 'moved'),
    ].join('---\n')
    stage = await startStage({ manifests, facts, clock })
    cookies = await stage.signIn('anna@acme.dev')
    const unmatched = installRecord({ website: 'acme-site', organization: 'acme', receivedAtMs: NOW_MS - 26 * HOUR_MS })
    const records = [
      ...story('acme-site', NOW_MS - 1_000, 'now'),
      ...story('acme-site', NOW_MS - HOUR_MS, 'hour ago'),
      ...story('acme-site', NOW_MS - 26 * HOUR_MS, 'yesterday'),
      ...story('acme-site', NOW_MS - 26 * HOUR_MS, 'yesterday'),
      visitRecord({
        website: 'acme-site',
        visitId: idAt(NOW_MS - 26 * HOUR_MS),
        issuedAtMs: NOW_MS - 26 * HOUR_MS,
        utm: {},
      }),
      ...story('acme-site', NOW_MS - 9 * 24 * HOUR_MS, 'before'),
      ...story('acme-site', MONTH_BEFORE_MS + HOUR_MS / 6, 'month before'),
      ...story('other-site', NOW_MS - 26 * HOUR_MS, 'foreign'),
      unmatched,
      ...madeUpTraffic(),
      visitRecord({ visitId: idAt(NOW_MS - 1_000), issuedAtMs: NOW_MS - 1_000, ...TRIAL }),
      ...[MONTH_BEFORE_MS, MONTH_BEFORE_MS, MONTH_MS, MONTH_MS, MONTH_MS].flatMap((ms) => [
        visitRecord({ ...MOVED, visitId: idAt(ms), issuedAtMs: ms }),
        installRecord({ ...MOVED, receivedAtMs: ms }),
      ]),
      visitRecord({ ...MOVED, website: 'moved-site', visitId: idAt(NOW_MS), issuedAtMs: NOW_MS }),
    ]
    await storeCounted(facts, records, clock)
    await rollUp({ facts, nowMs: clock })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (page: string) => (await stage.ask('GET', `/api/organizations/acme/${page}`, { cookies })).body

  it('show the funnel of a week, unfinished hours included, and nothing of others', async () => {
    const { total, steps, before } = await read('funnel')
    expect(total).to.deep.equal({
      visits: 5,
      activated: 4,
      copied: 4,
      started: 0,
      installed: 4,
      first_run: 0,
      converted: 4,
    })
    expect(before.total).to.include({ visits: 1, copied: 1, installed: 1 })
    const sum = (steps as readonly { visits: number }[]).reduce((all, { visits }) => all + visits, 0)
    expect(sum).to.equal(5)
    const short = await read(`funnel?since=${NOW_MS - 30 * HOUR_MS}&until=${NOW_MS - 20 * HOUR_MS}`)
    expect([short['total'].visits, short['step'], short['steps'].length]).to.deep.equal([3, 'hour', 10])
  })

  it('do not count the hour that begins when a period ends, so that periods add up and equal the list', async () => {
    const hour = Math.floor((NOW_MS - 26 * HOUR_MS) / HOUR_MS) * HOUR_MS
    const counted = async (since: number, until: number): Promise<object> => {
      const funnel = await read(`funnel?since=${since}&until=${until}`)
      const match = await read(`match?since=${since}&until=${until}`)
      const { installs } = await read(`installs?since=${since}&until=${until}`)
      expect([funnel['until'], match['until']]).to.deep.equal([until, until])
      expect(match['total'].installs).to.equal((installs as readonly unknown[]).length)
      return { visits: funnel['total'].visits, installs: match['total'].installs }
    }
    expect(await counted(hour - 5 * HOUR_MS, hour)).to.deep.equal({ visits: 0, installs: 0 })
    // The visits are of the hour; their installs, two minutes later, may be of the next one.
    expect(await counted(hour, hour + 2 * HOUR_MS)).to.deep.equal({ visits: 3, installs: 3 })
    expect(await counted(hour - 5 * HOUR_MS, hour + 2 * HOUR_MS)).to.deep.equal({ visits: 3, installs: 3 })
    for (const page of ['funnel', 'shared-commands'])
      expect(await read(`${page}?until=${HOUR_MS}`), page).to.include({ since: 0, until: HOUR_MS })
    const touched = await read(`funnel?since=${hour - 5 * HOUR_MS}&until=${hour + 1}`)
    expect([touched['until'], touched['total'].visits]).to.deep.equal([hour + HOUR_MS, 3])
  })

  it('show sources with those of the week before, and the rest as other', async () => {
    const body = await read('sources?by=source')
    const visitsBy = (rows: readonly SourceFigure[]) =>
      Object.fromEntries(rows.map(({ row, value, visits }) => [row === 'value' ? value : `(${row})`, visits?.visits]))
    expect(visitsBy(body['rows'])).to.deep.equal({
      yesterday: 2,
      now: 1,
      'hour ago': 1,
      '(direct)': 1,
      '(no_visit)': 0,
    })
    expect(visitsBy(body['before'].rows)).to.deep.equal({ before: 1 })
    expect((await stage.ask('GET', '/api/organizations/acme/sources?by=password', { cookies })).status).to.equal(400)
  })

  it('show how installs were matched, why not, how fast and by whom', async () => {
    const body = await read('match')
    // The install of this second's visit is two minutes ahead, and counts as soon as its hour does.
    expect(body['total'].matched).to.be.within(3, 4)
    expect(body['before'].total).to.include({ installs: 1, matched: 1 })
    expect(body['before'].agent).to.have.lengthOf(1)
    expect(body['before'].agent[0]).to.include({ value: 'claude-code', matched: 1 })
    expect(body['before'].policy[0]).to.include({ value: 'latest_visit', matched: 1 })
    expect(body['before'].reason).to.deep.equal([])
    expect(body['reason']).to.have.lengthOf(1)
    expect(body['agent'].map(({ value }: { value: string }) => value)).to.include.members(['claude-code', ''])
    const twoMinutes = body['timeToInstall'].find(({ fromSeconds }: { fromSeconds: number }) => fromSeconds === 120)
    expect(twoMinutes.installs).to.equal(body['total'].matched)
    expect(body['agentPages'][0]).to.include({
      agent: 'claude-code',
      page: 'https://acme.dev/install',
      installs: body['total'].matched,
    })
  })

  it("show the events of the month and the plan's quota, and a checklist that depends on traffic", async () => {
    const usage = await read('usage')
    expect(usage['allowed']).to.equal(10_000_000)
    expect(usage['used']).to.be.greaterThan(0)
    // A visit and its install in the first hour of it.
    expect(usage['before']).to.deep.equal({ since: MONTH_BEFORE_MS, until: usage['before'].until, used: 2 })
    expect(usage['before'].until).to.be.within(MONTH_BEFORE_MS + HOUR_MS, usage['since'])
    const { lines } = await read('checklist')
    const done = Object.fromEntries(lines.map(({ id, isDone }: { id: string; isDone: boolean }) => [id, isDone]))
    expect(done).to.include({
      visit_seen: true,
      marker_activated: true,
      install_matched: true,
      destination_live: false,
    })
  })

  it('count the events of websites that are deleted, as the quota does', async () => {
    const { body } = await stage.ask('GET', '/api/organizations/moved/usage', { cookies })
    expect([body['used'], body['before'].used]).to.deep.equal([7, 4])
    const days = body['days'] as readonly { at: number; pageViews: number; events: number }[]
    expect(days.reduce((sum, { pageViews, events }) => sum + pageViews + events, 0)).to.equal(7)
    expect(days.find(({ at }) => at === MONTH_MS)).to.deep.include({ events: 3 })
  })

  it('say until when they count made-up traffic, and the checklist counts none', async () => {
    const ofTrial = async (page: string) =>
      (await stage.ask('GET', `/api/organizations/trial/${page}`, { cookies })).body
    for (const page of ['funnel', 'sources', 'match', 'shared-commands', 'overview'])
      expect((await ofTrial(page))['exampleUntil'], page).to.equal(TODAY_MS)
    // Only what the month has of it.
    const { since, exampleUntil } = await ofTrial('usage')
    expect(exampleUntil).to.equal(since < TODAY_MS ? TODAY_MS : null)
    expect((await ofTrial(`funnel?since=${TODAY_MS}`))['exampleUntil']).to.equal(null)
    expect((await ofTrial('funnel'))['total'].visits).to.be.greaterThan(10)
    const counts = Object.fromEntries(
      (await ofTrial('checklist'))['lines'].map(({ id, count }: { id: string; count: number }) => [id, count]),
    )
    expect(counts).to.include({ visit_seen: 1, marker_activated: 0, command_copied: 0 })
    expect(counts).to.include({ hook_reached: 0, install_matched: 0, provider_accepted: 0 })
    expect((await read('funnel'))['exampleUntil']).to.equal(null)
    expect((await read('checklist'))['exampleUntil']).to.equal(null)
  })
})
