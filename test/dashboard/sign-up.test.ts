/** Strangers: closed by default; if the service is open, each organisation is a tenant that cannot reach objects of others. */

import { expect } from 'chai'

import { LIMITS } from '../../domain/limits.ts'
import { organizationOf, startStage, type Asked, type Stage, type Told } from './support/stage.ts'

const HOST = organizationOf('host', { members: { 'owner@host.dev': 'Owner' } })

describe('signing up', () => {
  let stage: Stage
  afterEach(() => stage?.stop())

  let addresses = 0
  const ask = (method: string, path: string, cookies: string, asked: Asked = {}): Promise<Told> =>
    stage.ask(method, path, { cookies, address: `10.2.${addresses >> 8}.${addresses++ % 256}`, ...asked })
  const found = (cookies: string, displayName = 'Mine') =>
    ask('POST', '/api/organizations', cookies, { body: { displayName } })

  it('is refused unless the service is open', async () => {
    stage = await startStage({ manifests: HOST })
    const told = await found(await stage.signIn('stranger@nowhere.dev'))
    expect([told.status, told.body['error']]).to.deep.equal([403, 'forbidden'])
    expect(await stage.writtenFiles()).to.deep.equal([])
  })

  it('creates one organisation for any number of simultaneous requests, at most five in all, with the stranger as Owner', async () => {
    stage = await startStage({ manifests: HOST, isOpen: true })
    const cookies = await stage.signIn('anna@one.dev')
    const many = await Promise.all(Array.from({ length: 6 }, () => found(cookies)))
    const ids = new Set(many.filter(({ status }) => status === 201).map(({ body }) => String(body['id'])))
    expect(ids.size).to.equal(1)
    const me = await ask('GET', '/api/me', cookies)
    expect(me.body['organizations']).to.deep.equal([{ id: [...ids][0], displayName: 'Mine', role: 'Owner' }])
    expect([...ids][0]).to.match(/^o-[0-9a-f]{16}$/)
    for (let number = 2; number <= LIMITS.organizationsOwned; number += 1)
      expect((await found(cookies)).status).to.equal(201)
    expect((await found(cookies)).body['error']).to.equal('person_limit')
    expect((await stage.writtenFiles()).join(' ')).to.not.include('anna')
  })

  it('says who may sign up, and keeps the time zone that is chosen, if there is one of that name', async () => {
    stage = await startStage({ manifests: HOST })
    const closed = await ask('GET', '/api/me', await stage.signIn('anna@one.dev'))
    expect(closed.body['mayMakeOrganizations']).to.equal(false)
    await stage.stop()
    stage = await startStage({ manifests: HOST, isOpen: true })
    const cookies = await stage.signIn('anna@one.dev')
    expect((await ask('GET', '/api/me', cookies)).body['mayMakeOrganizations']).to.equal(true)
    const make = (timeZone: string) =>
      ask('POST', '/api/organizations', cookies, { body: { displayName: 'Mine', timeZone } })
    const refused = await make('Mars/Olympus')
    expect([refused.status, refused.body['field']]).to.deep.equal([400, '/timeZone'])
    expect(await stage.writtenFiles()).to.deep.equal([])
    const { body } = await make('Europe/Berlin')
    const stored = await stage.writer.read({ kind: 'Organization', namespace: 'default', name: String(body['id']) })
    expect(stored?.spec['timeZone']).to.equal('Europe/Berlin')
  })

  it('makes organisations on the plan that the operator of the service chose', async () => {
    stage = await startStage({ manifests: HOST, isOpen: true, defaultPlan: 'Standard' })
    const { body } = await found(await stage.signIn('anna@one.dev'))
    const stored = await stage.writer.read({ kind: 'Organization', namespace: 'default', name: String(body['id']) })
    expect(stored?.spec['plan']).to.equal('Standard')
  })

  it('begins anew after an organisation was removed: nothing of it comes back, and none of its people', async () => {
    stage = await startStage({ manifests: HOST, isOpen: true })
    const anna = await stage.signIn('anna@one.dev')
    const bert = await stage.signIn('bert@two.dev')
    const first = String((await found(anna)).body['id'])
    // As if somebody had paid: Free allows one member.
    const place = { kind: 'Organization', namespace: 'default', name: first }
    const stored = await stage.writer.read(place)
    if (stored === null) throw new Error('it was just created')
    await stage.writer.writeBilling(stored, { plan: 'Enterprise', billing: { customer: 'cus_1' } })
    const invited = await ask('POST', `/api/organizations/${first}/members`, anna, {
      body: { email: 'bert@two.dev', role: 'Owner' },
    })
    expect(invited.status).to.equal(201)
    await stage.mailSent()
    const invitation = /#invitation=([0-9a-f]{32})/.exec(stage.mails.at(-1) ?? '')?.[1]
    expect((await ask('POST', '/api/invitations/accept', bert, { body: { invitation } })).status).to.equal(200)
    const site = { spec: { primaryOrigin: 'https://one.example' } }
    expect((await ask('POST', `/api/organizations/${first}/resources/Website`, anna, { body: site })).status).to.equal(
      201,
    )
    const path = `/api/organizations/${first}/resources/Organization/default/${first}`
    const etag = (await ask('GET', path, anna)).headers.get('etag') ?? ''
    expect((await ask('DELETE', path, anna, { headers: { 'If-Match': etag } })).status).to.equal(204)
    const organizationsOf = async (cookies: string): Promise<readonly string[]> =>
      (await ask('GET', '/api/me', cookies)).body['organizations'].map(({ id }: { id: string }) => id)
    expect([await organizationsOf(anna), await organizationsOf(bert)]).to.deep.equal([[], []])
    expect((await ask('GET', `/api/organizations/${first}`, anna)).status).to.equal(404)
    const again = await found(anna, 'New')
    expect(again.status).to.equal(201)
    expect(again.body['id']).to.not.equal(first)
    expect([await organizationsOf(anna), await organizationsOf(bert)]).to.deep.equal([[again.body['id']], []])
    expect(stage.directory.websites(String(again.body['id']))).to.deep.equal([])
  })

  it('keeps two tenants of one namespace apart, whatever they name', async () => {
    stage = await startStage({ manifests: HOST, isOpen: true })
    const anna = await stage.signIn('anna@one.dev')
    const bert = await stage.signIn('bert@two.dev')
    const hers = String((await found(anna)).body['id'])
    const his = String((await found(bert)).body['id'])
    const make = (id: string, kind: string, spec: object, cookies: string, name?: string) =>
      ask('POST', `/api/organizations/${id}/resources/${kind}`, cookies, {
        body: { spec, ...(name === undefined ? {} : { name }) },
      })
    const site = await make(hers, 'Website', { primaryOrigin: 'https://one.example' }, anna)
    expect([site.status, site.body['spec'].tenant]).to.deep.equal([201, hers])
    expect(site.body['name']).to.match(/^w-[0-9a-f]{16}$/)
    const website = String(site.body['name'])
    const secret = String(
      (await ask('POST', `/api/organizations/${hers}/secrets`, anna, { body: { values: { k: 'v' } } })).body['name'],
    )
    // A change that names one of her objects is refused as if that did not exist, and nothing is written.
    const before = (await stage.writtenFiles()).length
    const ga4 = (name: string) => ({ measurementId: 'G-ABC1234567', apiSecretRef: { name, key: 'k' } })
    const attempts: readonly (readonly [string, object, string?])[] = [
      ['Website', { primaryOrigin: 'https://x.example', organizationRef: { name: hers } }],
      ['Website', { primaryOrigin: 'https://x.example', tenant: hers }],
      ['Website', { primaryOrigin: 'https://x.example', installation: 'other' }],
      ['Website', { primaryOrigin: 'https://x.example', id: website }],
      ['Website', { primaryOrigin: 'https://x.example' }, website],
      ['Website', { primaryOrigin: 'https://one.example' }],
      ['InstallPath', { organizationRef: { name: hers } }],
      ['Destination', { websiteRef: { name: website }, provider: 'ga4', ga4: ga4(secret) }],
      [
        'LogStream',
        {
          organizationRef: { name: hers },
          webhook: { url: 'https://x.example/', secretRef: { name: secret, key: 'k' } },
        },
      ],
      ['Member', { organizationRef: { name: hers }, email: 'bert@two.dev', role: 'Owner' }],
      ['Organization', { plan: 'Enterprise', tenant: hers }],
    ]
    for (const [kind, spec, name] of attempts) {
      const told = await make(his, kind, spec, bert, name)
      expect(told.status, JSON.stringify([kind, spec, told.body])).to.be.within(400, 403)
    }
    expect((await stage.writtenFiles()).length).to.equal(before)
    for (const method of ['GET', 'PUT', 'DELETE'])
      for (const id of [hers, his]) {
        const path = `/api/organizations/${id}/resources/Website/default/${website}`
        const more = method === 'PUT' ? { body: { spec: {} } } : {}
        expect((await ask(method, path, bert, { headers: { 'If-Match': '"x"' }, ...more })).status).to.equal(404)
      }
    // The operator's own objects are as unreachable as those of another tenant.
    const up = await make(his, 'InstallPath', { organizationRef: { name: 'host' } }, bert)
    expect([up.status, up.body['field']]).to.deep.equal([400, '/spec/organizationRef'])
    expect((await ask('GET', '/api/organizations/host', bert)).status).to.equal(404)
  })
})
