/** API keys through the dashboard: an Admin makes one, sees it once, and revokes it. */

import { expect } from 'chai'

import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { hashOfPass } from '../../domain/people/pass.ts'
import { apiKeyOf, organizationOf, specTime, startStage, websiteOf, type Stage, type Told } from './support/stage.ts'

const KEYS = '/api/organizations/acme/keys'
const GRAFANA = { displayName: 'Grafana', scopes: ['figures'] }

describe('API keys through the dashboard', () => {
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
      apiKeyOf('in-git', { organization: 'acme', expiresAt }).text +
      `---\n${organizationOf('other', { members: { 'otto@other.dev': 'Owner' } })}`
    stage = await startStage({ manifests, isAudited: true })
    admin = await stage.signIn('ada@acme.dev')
    viewer = await stage.signIn('vic@acme.dev')
    other = await stage.signIn('otto@other.dev')
  })
  afterEach(() => stage?.stop())

  let addresses = 0
  const make = (spec: object = {}, cookies = admin): Promise<Told> => {
    const body = { ...GRAFANA, expiresAt: specTime(stage.nowMs() + 90 * DAY_MS), ...spec }
    return stage.ask('POST', KEYS, { cookies, body, address: `10.1.${addresses++ % 250}.1` })
  }
  const list = async (cookies = admin) => (await stage.ask('GET', KEYS, { cookies })).body['keys']
  const statusWith = async (key: string, path = '/v1/figures'): Promise<number> =>
    (await stage.ask('GET', path, { headers: { Authorization: `Bearer ${key}` } })).status

  it('work as soon as they are answered, and stop as soon as they are revoked', async () => {
    const made = await make()
    expect(made.status, made.text).to.equal(201)
    const { key, namespace, name } = made.body
    expect(key).to.match(/^whk_[\w-]{43}$/)
    expect(await statusWith(key)).to.equal(200)
    expect(await statusWith(key, '/v1/installs')).to.equal(404)
    const revoked = await stage.ask('DELETE', `${KEYS}/${namespace}/${name}`, { cookies: admin })
    expect(revoked.status, revoked.text).to.equal(204)
    expect(await statusWith(key)).to.equal(401)
    expect(await stage.writtenFiles()).to.deep.equal([])
  })

  it('are shown once: lists, objects, files and the process log have no key, and Viewers no digest', async () => {
    const { key, name } = (await make()).body
    const hash = hashOfPass(key, sha256Hex)
    const asListed = await list(viewer)
    expect(asListed.map((each: any) => [each.displayName, each.scopes, each.isInForce])).to.have.deep.members([
      ['Grafana', ['figures'], true],
      ['in-git', ['figures', 'installs'], true],
    ])
    const objects = `/api/organizations/acme/resources/ApiKey`
    const ofViewer = [
      await stage.ask('GET', objects, { cookies: viewer }),
      await stage.ask('GET', `${objects}/default/${name}`, { cookies: viewer }),
    ]
    const ofAdmin = await stage.ask('GET', `${objects}/default/${name}`, { cookies: admin })
    for (const { text } of ofViewer) expect(text).not.to.include('sha256:')
    expect(ofAdmin.text).to.include(hash)
    const logged = (await stage.eventLog.read('activity', 0, 100)).map(({ value }) => String(value)).join('\n')
    for (const text of [JSON.stringify(asListed), ofAdmin.text, stage.logLines.join('\n'), logged])
      expect(text).not.to.include(key)
  })

  it('are for Admins to make and revoke, and only those of their own organisation', async () => {
    expect((await make({}, viewer)).status).to.equal(403)
    const { name } = (await make()).body
    const path = `${KEYS}/default/${name}`
    expect((await stage.ask('DELETE', path, { cookies: viewer })).status).to.equal(403)
    expect((await stage.ask('DELETE', path, { cookies: other })).status).to.equal(404)
    const foreign = await stage.ask('DELETE', path.replace('acme', 'other'), { cookies: other })
    expect([foreign.status, foreign.text]).to.deep.equal([404, '{"error":"not_found"}'])
    expect(await list()).to.have.length(2)
  })

  it('end within a year, and are at most 20', async () => {
    const late = await make({ expiresAt: specTime(stage.nowMs() + (LIMITS.passDays + 1) * DAY_MS) })
    expect([late.status, late.body['field']]).to.deep.equal([400, '/spec/expiresAt'])
    const past = await make({ expiresAt: specTime(stage.nowMs() - DAY_MS) })
    expect([past.status, past.body['reason']]).to.deep.equal([400, 'Expired'])
    for (let count = 1; count < LIMITS.apiKeys; count += 1) expect((await make()).status, String(count)).to.equal(201)
    const more = await make()
    expect([more.status, more.body['reason']]).to.deep.equal([400, 'TooMany'])
  })

  it('that Git holds are not revoked here, and the answer names the file', async () => {
    const told = await stage.ask('DELETE', `${KEYS}/default/in-git`, { cookies: admin })
    expect([told.status, told.body['error'], told.body['manager']]).to.deep.equal([
      409,
      'managed_elsewhere',
      'all.yaml',
    ])
  })
})
