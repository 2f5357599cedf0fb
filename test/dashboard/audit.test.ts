/** Who did what: entries of the activity about changes of objects, signing in, and limits. */

import { expect } from 'chai'

import type { ActivityRecord } from '../../domain/records.ts'
import { createKeyring } from '../../runtime/keyring.ts'
import { until } from '../../fixtures/until.ts'
import { organizationOf, SECRET, startStage, type Stage } from './support/stage.ts'

const OWNER = 'owner@acme.dev'
const MANIFESTS = organizationOf('acme', { plan: 'Standard', members: { [OWNER]: 'Owner' } })
const SITES = '/api/organizations/acme/resources/Website'

describe('the audit of the dashboard', () => {
  let stage: Stage
  let cookies: string
  const owner = createKeyring([SECRET]).personId(OWNER)
  before(async () => {
    stage = await startStage({ manifests: MANIFESTS, isAudited: true })
    cookies = await stage.signIn(OWNER)
  })
  after(() => stage?.stop())

  const entries = async (): Promise<readonly ActivityRecord[]> =>
    (await stage.eventLog.read('activity', 0, 1_000)).map(({ value }) => JSON.parse(value) as ActivityRecord)
  const about = async (subject: string) =>
    (await entries())
      .filter((entry) => entry.subject === subject)
      .map(({ type, actor, manager, fields }) => ({ type, actor, manager, fields }))
  const becomes = (subject: string, count: number) => until(async () => (await about(subject)).length >= count)

  it('makes one entry for each existing object, with the name of its file', async () => {
    await becomes('Member/acme-0', 1)
    const told = { type: 'object_created', actor: undefined, manager: 'all.yaml', fields: undefined }
    expect([await about('Organization/acme'), await about('Member/acme-0')]).to.deep.equal([[told], [told]])
  })

  it('names the person of a change in the dashboard, and nobody of the same file changed by hand', async () => {
    const body = { name: 'site', spec: { primaryOrigin: 'https://acme.dev', retentionDays: 60 } }
    const made = await stage.ask('POST', SITES, { cookies, body })
    expect(made.status, made.text).to.equal(201)
    await becomes('Website/site', 1)
    const spec = { ...(made.body['spec'] as object), retentionDays: 90, displayName: 'Site' }
    const version = { 'If-Match': made.headers.get('etag') ?? '' }
    const changed = await stage.ask('PUT', `${SITES}/default/site`, { cookies, body: { spec }, headers: version })
    expect(changed.status, changed.text).to.equal(200)
    await becomes('Website/site', 2)
    const [first, second] = await about('Website/site')
    expect([first?.type, first?.actor]).to.deep.equal(['object_created', owner])
    expect([second?.type, second?.actor]).to.deep.equal(['object_changed', owner])
    expect(second?.fields).to.deep.equal(['/spec/displayName', '/spec/retentionDays'])
    await stage.apply('all.yaml', MANIFESTS.replace('acme Ltd', 'Acme again'))
    await becomes('Organization/acme', 2)
    expect((await about('Organization/acme'))[1]).to.deep.equal({
      type: 'object_changed',
      actor: undefined,
      manager: 'all.yaml',
      fields: ['/spec/displayName'],
    })
  })

  it('finds what changed while it was stopped, and makes no entry twice', async () => {
    const before = await entries()
    await stage.restartAudit(async () => stage.apply('all.yaml', MANIFESTS))
    await becomes('Organization/acme', 3)
    await stage.restartAudit(async () => undefined)
    await stage.apply('more.yaml', organizationOf('more'))
    await becomes('Organization/more', 1)
    const fresh = (await entries()).slice(before.length)
    expect(fresh.map(({ subject }) => subject)).to.deep.equal(['Organization/acme', 'Organization/more'])
  })

  it('records a removal before it happens, with the person, and then that the object is gone', async () => {
    const { headers } = await stage.ask('GET', `${SITES}/default/site`, { cookies })
    const version = { 'If-Match': headers.get('etag') ?? '' }
    expect((await stage.ask('DELETE', `${SITES}/default/site`, { cookies, headers: version })).status).to.equal(204)
    await becomes('Website/site', 4)
    const [asked, gone] = (await about('Website/site')).slice(2)
    expect([asked?.type, asked?.actor]).to.deep.equal(['object_removal', owner])
    expect([gone?.type, gone?.actor]).to.deep.equal(['object_removed', undefined])
  })

  it('records for members as well who invited, who accepted and who changed them', async () => {
    const invited = await stage.ask('POST', '/api/organizations/acme/members', {
      cookies,
      body: { email: 'anna@acme.dev', role: 'Viewer' },
    })
    const subject = `Member/${String(invited.body['name'])}`
    await becomes(subject, 1)
    const anna = await stage.signIn('anna@acme.dev')
    const { body } = await stage.ask('GET', '/api/me', { cookies: anna })
    const [invitation] = body['invitations'] as { id: string }[]
    const accepting = { cookies: anna, body: { invitation: invitation?.id } }
    const accepted = await stage.ask('POST', '/api/invitations/accept', accepting)
    expect(accepted.status, accepted.text).to.equal(200)
    await becomes(subject, 2)
    const [made, joined] = await about(subject)
    expect(made?.actor).to.equal(owner)
    expect([joined?.actor, joined?.fields]).to.deep.equal([
      createKeyring([SECRET]).personId('anna@acme.dev'),
      ['/spec/invitation'],
    ])
  })

  it('records who signed in and what the plan refused, with pseudonyms and no address', async () => {
    const refused: number[] = []
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      const spec = { primaryOrigin: `https://${name}.dev` }
      refused.push((await stage.ask('POST', SITES, { cookies, body: { name, spec } })).status)
    }
    expect(refused).to.include(402)
    await until(async () => (await entries()).some(({ type }) => type === 'plan_limit_reached'))
    const all = await entries()
    const limit = all.filter(({ type }) => type === 'plan_limit_reached')
    expect(limit.map(({ subject, actor, organization }) => [subject, actor, organization])).to.deep.equal([
      ['websites', owner, 'acme'],
    ])
    expect(limit[0]?.message).to.match(/whoever runs this service can set `plan: \w+` in the Organization/u)
    const signIns = all.filter(({ type }) => type === 'sign_in')
    expect(signIns.map(({ actor, organization }) => [actor, organization])).to.deep.include([owner, 'acme'])
    expect(JSON.stringify(all)).to.not.match(/owner@|anna@|192\.0\.2|198\.51/)
  })
})
