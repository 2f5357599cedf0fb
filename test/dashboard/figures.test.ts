/** Pages of figures over real facts: the present hours raw, earlier ones from their rollups, and each organisation sees only its own. */

import { expect } from 'chai'

import { createHourMarks } from '../../delivery/facts-writer/hour-marks.ts'
import { rollUp } from '../../delivery/rollup/rollup.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { activationRecord, handoffRecord, installRecord, rowsOf, visitRecord } from '../contract/fact-samples.ts'
import { openTestFacts, type TestFacts } from '../support/facts.ts'
import { organizationOf, SECRET, startStage, type Stage, websiteOf } from './support/stage.ts'

const HOUR_MS = 3_600_000
const NOW_MS = Date.now()
const KEY_ID = createKeyring([SECRET]).currentKeyId

let serial = 0
const idAt = (ms: number): string =>
  `${KEY_ID.toString(16).padStart(2, '0')}${ms.toString(16).padStart(12, '0')}${(serial++).toString(16).padStart(18, '0')}`

/** A visit that was activated and copied, and led to an install by an agent two minutes later. */
function story(site: string, atMs: number, source: string) {
  const visitId = idAt(atMs)
  const about = { website: site, visitId, issuedAtMs: atMs }
  const outcome = { resolution: 'matched', selectionPolicy: 'latest_visit', visitId, visitIssuedAtMs: atMs } as const
  return [
    visitRecord({ ...about, utm: { source } }),
    activationRecord(about),
    handoffRecord(about),
    installRecord({ website: site, receivedAtMs: atMs + 120_000, agent: 'claude-code', ...outcome }),
  ]
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
    ].join('---\n')
    stage = await startStage({ manifests, facts })
    cookies = await stage.signIn('anna@acme.dev')
    const unmatched = installRecord({ website: 'acme-site', receivedAtMs: NOW_MS - 26 * HOUR_MS })
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
      ...story('other-site', NOW_MS - 26 * HOUR_MS, 'foreign'),
      unmatched,
    ]
    const hours = createHourMarks('test', Date.now).collect()
    for (const [table, rows] of rowsOf(records)) {
      await facts.insert(table, rows)
      for (const row of rows) hours.note(table, row)
    }
    await facts.insert('hour_marks', hours.rows())
    await rollUp({ facts, nowMs: Date.now, logger: { warn: () => undefined } })
  })
  after(async () => {
    await stage?.stop()
    await facts?.close()
  })

  const read = async (page: string) => (await stage.ask('GET', `/api/organizations/acme/${page}`, { cookies })).body

  it('show the funnel of a week, unfinished hours included, and nothing of others', async () => {
    const { total, steps, before } = await read('funnel')
    expect(total).to.deep.equal({ visits: 5, activated: 4, copied: 4, started: 0, completed: 4, first_run: 0 })
    expect(before.total).to.include({ visits: 1, copied: 1, completed: 1 })
    const sum = (steps as readonly { visits: number }[]).reduce((all, { visits }) => all + visits, 0)
    expect(sum).to.equal(5)
    const short = await read(`funnel?since=${NOW_MS - 30 * HOUR_MS}&until=${NOW_MS - 20 * HOUR_MS}`)
    expect([short['total'].visits, short['stepMs'], short['steps'].length]).to.deep.equal([3, HOUR_MS, 1])
  })

  it('show sources with those of the week before, and the rest as other', async () => {
    const body = await read('sources?by=source')
    const rows = (body['values'] as readonly { value: string; visits: number }[]).map(({ value, visits }) => [
      value,
      visits,
    ])
    expect(Object.fromEntries(rows)).to.deep.equal({ yesterday: 2, now: 1, 'hour ago': 1, '': 1 })
    expect(body['other'].visits).to.equal(0)
    expect(body['before'].values.map(({ value }: { value: string }) => value)).to.deep.equal(['before'])
    expect((await stage.ask('GET', '/api/organizations/acme/sources?by=password', { cookies })).status).to.equal(400)
  })

  it('show how installs were matched, why not, how fast and by whom', async () => {
    const body = await read('match')
    // The install of this second's visit is two minutes ahead, and counts as soon as its hour does.
    expect(body['total'].matched).to.be.within(3, 4)
    expect(body['before'].total).to.include({ completed: 1, matched: 1 })
    expect(body['reason']).to.have.lengthOf(1)
    expect(body['agent'].values.map(({ value }: { value: string }) => value)).to.include.members(['claude-code', ''])
    const twoMinutes = body['timeToInstall'].find(({ fromSeconds }: { fromSeconds: number }) => fromSeconds === 120)
    expect(twoMinutes.installs).to.equal(body['total'].matched)
    expect(body['agentPages'][0]).to.include({ agent: 'claude-code', page: 'https://acme.dev/install', completed: 4 })
  })

  it("show the events of the month and the plan's quota, and a checklist that depends on traffic", async () => {
    const usage = await read('usage')
    expect(usage['allowed']).to.equal(10_000_000)
    expect(usage['used']).to.be.greaterThan(0)
    const { lines } = await read('checklist')
    const done = Object.fromEntries(lines.map(({ id, isDone }: { id: string; isDone: boolean }) => [id, isDone]))
    expect(done).to.include({
      visit_seen: true,
      marker_activated: true,
      install_matched: true,
      destination_live: false,
    })
  })
})
