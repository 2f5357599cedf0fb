/** Share links through the dashboard: an Admin makes one, sees its address once, and revokes it. */

import { expect } from 'chai'

import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { hashOfPass } from '../../domain/people/pass.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, shareLinkOf, specTime, startStage, websiteOf, type Stage, type Told } from './support/stage.ts'

const LINKS = '/api/organizations/acme/links'
const HOSTILE = [String.raw`campaign:is:<script>alert(1)</script>,a\,b,\\,{"a":1}`, 'source:contains:\u202e" onload=x']

describe('share links through the dashboard', () => {
  let stage: Stage
  let admin: string
  let viewer: string
  let other: string
  beforeEach(async () => {
    const expiresAt = specTime(Date.now() + 30 * DAY_MS)
    const manifests =
      organizationOf('acme', {
        members: { 'owner@acme.dev': 'Owner', 'ada@acme.dev': 'Admin', 'vic@acme.dev': 'Viewer' },
      }) +
      websiteOf('acme-site', 'acme') +
      shareLinkOf('in-git', { website: 'acme-site', expiresAt }).text +
      `---\n${organizationOf('other', { plan: 'Free', members: { 'otto@other.dev': 'Owner' } })}` +
      websiteOf('other-site', 'other')
    stage = await startStage({ manifests, isAudited: true })
    admin = await stage.signIn('ada@acme.dev')
    viewer = await stage.signIn('vic@acme.dev')
    other = await stage.signIn('otto@other.dev')
  })
  afterEach(() => stage?.stop())

  let addresses = 0
  const make = (spec: object = {}, cookies = admin, links = LINKS): Promise<Told> => {
    const usual = { displayName: 'For the board', website: 'acme-site', period: 'LastMonth', filter: [] }
    const body = { ...usual, expiresAt: specTime(stage.nowMs() + 90 * DAY_MS), ...spec }
    return stage.ask('POST', links, { cookies, body, address: `10.1.${addresses++ % 250}.1` })
  }
  const list = async (cookies = admin) => (await stage.ask('GET', LINKS, { cookies })).body['links']
  const statusOf = async (path: string): Promise<number> => (await stage.ask('GET', path)).status

  it('work as soon as they are answered, and stop as soon as they are revoked', async () => {
    const made = await make()
    expect(made.status, made.text).to.equal(201)
    const { path, namespace, name } = made.body
    expect(path).to.match(/^\/share\/whs_[\w-]{43}$/)
    expect([await statusOf(path), await statusOf(`${path}/figures`)]).to.deep.equal([200, 200])
    const revoked = await stage.ask('DELETE', `${LINKS}/${namespace}/${name}`, { cookies: admin })
    expect(revoked.status, revoked.text).to.equal(204)
    expect([await statusOf(path), await statusOf(`${path}/figures`)]).to.deep.equal([404, 404])
    expect(await stage.writtenFiles()).to.deep.equal([])
  })

  it('are shown once: lists, objects, files and the process log have no token, and Viewers no digest', async () => {
    const { path, name } = (await make()).body
    const token = String(path).slice('/share/'.length)
    await stage.ask('GET', `${path}/figures`)
    await stage.ask('GET', `${path}/nothing`)
    const asListed = await list(viewer)
    const shown = asListed.map((each: any) => [each.displayName, each.website, each.period, each.isInForce])
    expect(shown).to.have.deep.members([
      ['For the board', 'acme-site', 'LastMonth', true],
      ['in-git', 'acme-site', 'Last28Days', true],
    ])
    const objects = `/api/organizations/acme/resources/ShareLink`
    const ofViewer = [
      await stage.ask('GET', objects, { cookies: viewer }),
      await stage.ask('GET', `${objects}/default/${name}`, { cookies: viewer }),
    ]
    const ofAdmin = await stage.ask('GET', `${objects}/default/${name}`, { cookies: admin })
    for (const { text } of ofViewer) expect(text).not.to.include('sha256:')
    expect(ofAdmin.text).to.include(hashOfPass(token, sha256Hex))
    const logged = (await stage.eventLog.read('activity', 0, 100)).map(({ value }) => String(value)).join('\n')
    const metrics = await stage.metrics()
    expect(metrics).to.include('/share/:token/figures')
    for (const text of [JSON.stringify(asListed), ofAdmin.text, stage.logLines.join('\n'), logged, metrics])
      expect(text).not.to.include(token)
  })

  it('are for Admins to make and revoke, and only those of their own organisation', async () => {
    expect((await make({}, viewer)).status).to.equal(403)
    const { name } = (await make()).body
    const path = `${LINKS}/default/${name}`
    expect((await stage.ask('DELETE', path, { cookies: viewer })).status).to.equal(403)
    expect((await stage.ask('DELETE', path, { cookies: other })).status).to.equal(404)
    const foreign = await stage.ask('DELETE', path.replace('acme', 'other'), { cookies: other })
    expect([foreign.status, foreign.text]).to.deep.equal([404, '{"error":"not_found"}'])
    const grabbed = await make({ website: 'other-site' })
    expect([grabbed.status, grabbed.body['field']]).to.deep.equal([400, '/website'])
    expect(await list()).to.have.length(2)
  })

  it('hold filters as they are given, whatever their values are', async () => {
    const { path } = (await make({ filter: HOSTILE })).body
    const told = await stage.ask('GET', `${path}/figures`)
    expect([told.status, told.body['filter']]).to.deep.equal([200, HOSTILE])
    const listed = (await list()).find(({ displayName }: any) => displayName === 'For the board')
    expect(listed.filter).to.deep.equal(HOSTILE)
    const wrong = await make({ filter: ['visit_id:is:a'] })
    expect([wrong.status, wrong.body['field']]).to.deep.equal([400, '/filter'])
  })

  it('end within a year, and are at most 20 of a website', async () => {
    const late = await make({ expiresAt: specTime(stage.nowMs() + (LIMITS.passDays + 1) * DAY_MS) })
    expect([late.status, late.body['field']]).to.deep.equal([400, '/spec/expiresAt'])
    const past = await make({ expiresAt: specTime(stage.nowMs() - DAY_MS) })
    expect([past.status, past.body['reason']]).to.deep.equal([400, 'Expired'])
    for (let count = 1; count < LIMITS.shareLinks; count += 1)
      expect((await make()).status, String(count)).to.equal(201)
    const more = await make()
    expect([more.status, more.body['error'], more.body['limit']]).to.deep.equal([
      402,
      'plan_limit',
      'shareLinksPerWebsite',
    ])
  })

  it('need a larger plan than Free', async () => {
    const told = await make({ website: 'other-site' }, other, LINKS.replace('acme', 'other'))
    expect([told.status, told.body['error'], told.body['plan']]).to.deep.equal([402, 'plan_required', 'Free'])
  })

  it('open nothing while their organisation is on the plan Free', async () => {
    const { path } = (await make()).body
    expect(await statusOf(path)).to.equal(200)
    const smaller = organizationOf('acme', { plan: 'Free', members: { 'ada@acme.dev': 'Owner' } })
    await stage.apply('all.yaml', smaller + websiteOf('acme-site', 'acme'))
    await until(async () => (await statusOf(path)) === 404)
  })

  it('that Git holds are not revoked here, and the answer names the file', async () => {
    const told = await stage.ask('DELETE', `${LINKS}/default/in-git`, { cookies: admin })
    expect([told.status, told.body['error'], told.body['manager']]).to.deep.equal([
      409,
      'managed_elsewhere',
      'all.yaml',
    ])
  })
})
