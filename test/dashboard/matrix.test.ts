/** Every route, as every role and with every key, in the own organisation, in another one and in one that does not exist. */

import { expect } from 'chai'

import { isOfPass, type RouteRow } from '../../dashboard/api/route.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { MEMBER_ROLES } from '../../domain/model.ts'
import { hashOfPass } from '../../domain/people/pass.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { billingOver } from './support/billing.ts'
import { until } from '../../fixtures/until.ts'
import {
  apiKeyOf,
  organizationOf,
  shareLinkOf,
  specTime,
  startStage,
  websiteOf,
  type Stage,
  type Told,
} from './support/stage.ts'

const all: readonly (readonly [string, RouteRow])[] = Object.entries(ROUTES)
/** Of people; programs have keys, and others links. */
const rows = all.filter(([, { needs }]) => !isOfPass(needs))
const keyed = all.filter(([, { needs }]) => needs === 'Key')
const shared = all.filter(([, { needs }]) => needs === 'Link')
const addressOf = (role: string, organization: string): string => `${role.toLowerCase()}@${organization}.dev`

describe('the routes of the dashboard', () => {
  let stage: Stage
  const cookies = new Map<string, string>()
  before(async () => {
    const membersOf = (name: string) => Object.fromEntries(MEMBER_ROLES.map((role) => [addressOf(role, name), role]))
    const manifests = ['mine', 'other'].map((name) => organizationOf(name, { members: membersOf(name) })).join('---\n')
    stage = await startStage({ manifests, billing: () => billingOver('http://127.0.0.1:9') })
    for (const role of MEMBER_ROLES) cookies.set(role, await stage.signIn(addressOf(role, 'mine')))
    cookies.set('stranger', await stage.signIn('stranger@nowhere.dev'))
  })
  after(() => stage?.stop())

  let addresses = 0
  const call = (
    { method, path }: RouteRow,
    organization: string,
    who: string | null,
    member = 'nobody',
  ): Promise<Told> =>
    stage.ask(method, path.replace(':organization', organization).replace(':member', member), {
      cookies: who === null ? '' : (cookies.get(who) ?? ''),
      // A body that no schema accepts: a request that gets this far was authorised.
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: { nothing: true } }),
      address: `10.${addresses >> 16}.${(addresses >> 8) % 256}.${addresses++ % 256}`,
    })

  it('are exactly those of the table, each with a required right, and change nothing by GET', () => {
    expect(rows.length).to.be.greaterThan(10)
    for (const [name, { method, path, needs }] of rows) {
      expect(path, name).to.match(/^\/api\/[a-z:/-]+$/i)
      expect(path.includes(':organization'), name).to.equal(needs !== null && needs !== 'Person')
      const isForStrangers = path.startsWith('/api/sign-in') || path === '/api/billing/webhook'
      expect(method === 'GET' || needs !== null || isForStrangers, name).to.equal(true)
    }
  })

  for (const [name, row] of rows.filter(([, { needs }]) => needs !== null)) {
    it(`${name} needs somebody who is signed in`, async () => {
      const told = await call(row, 'mine', null)
      expect([told.status, told.body]).to.deep.equal([401, { error: 'unauthenticated' }])
    })
  }

  for (const [name, row] of rows.filter(([, { path }]) => path.includes(':organization'))) {
    it(`${name} gives the same answer for organisations of others and for none`, async () => {
      for (const who of [...MEMBER_ROLES, 'stranger']) {
        const other = await call(row, 'other', who)
        const none = await call(row, 'none', who)
        for (const told of [other, none])
          expect([told.status, told.text], who).to.deep.equal([404, '{"error":"not_found"}'])
        const headersOf = ({ headers }: Told) => [...headers].filter(([key]) => !['date', 'x-request-id'].includes(key))
        expect(headersOf(other)).to.deep.equal(headersOf(none))
      }
    })

    it(`${name} lets roles in as the table says`, async () => {
      for (const role of MEMBER_ROLES) {
        const { status } = await call(row, 'mine', role)
        const isLetIn = isAtLeast(role, row.needs as (typeof MEMBER_ROLES)[number])
        expect(status === 403, `${role}: ${status}`).to.equal(!isLetIn)
      }
    })

    if (row.path.includes(':member')) {
      it(`${name} sees only members of its own organisation`, async () => {
        const foreign = await call(row, 'mine', 'Owner', 'other-1')
        const none = await call(row, 'mine', 'Owner', 'nobody')
        expect([foreign.status, foreign.text]).to.deep.equal([none.status, none.text])
      })
    }
  }

  it('answer 404 for what is no route, and 405 with the methods that there are', async () => {
    const owner = cookies.get('Owner') ?? ''
    for (const path of [
      '/api/',
      '/api/nothing',
      '/api/organizations/mine/',
      '/api/organizations//members',
      '/api/organizations/%zz',
    ])
      expect((await stage.ask('GET', path, { cookies: owner })).status, path).to.equal(404)
    const told = await stage.ask('PATCH', '/api/organizations/mine/members', { cookies: owner })
    expect([told.status, told.headers.get('allow')]).to.deep.equal([405, 'GET, POST, HEAD'])
  })

  it('have an ID that is in the log of the process, and headers that forbid caches and frames', async () => {
    const told = await stage.ask('GET', '/api/me', { cookies: cookies.get('Owner') ?? '' })
    expect(told.headers.get('cache-control')).to.equal('no-store')
    expect(told.headers.get('access-control-allow-origin')).to.equal(null)
    expect(stage.logLines.join('\n')).to.include(told.headers.get('x-request-id') ?? 'nothing')
  })

  it('count reads by session and writes by client address', async () => {
    const cookie = await stage.signIn(addressOf('Owner', 'mine'))
    const reads = await Promise.all(Array.from({ length: 610 }, () => stage.ask('GET', '/api/me', { cookies: cookie })))
    // A new minute may begin in between.
    const refused = reads.filter(({ status }) => status === 429)
    expect(refused.length).to.be.within(0, 10)
    const more = await Promise.all(Array.from({ length: 700 }, () => stage.ask('GET', '/api/me', { cookies: cookie })))
    expect(more.filter(({ status }) => status === 200).length).to.be.at.most(600)
    expect((await stage.ask('GET', '/api/me', { cookies: cookies.get('Admin') ?? '' })).status).to.equal(200)
    const writes = []
    for (let times = 0; times < 70; times++)
      writes.push(
        (await stage.ask('POST', '/api/organizations/mine/leave', { cookies: cookie, address: '172.16.0.1' })).status,
      )
    expect(writes.filter((status) => status !== 429).length).to.be.within(30, 60)
    expect(writes).to.include(429)
  })
})

const NOW_MS = Date.now()
const EXPIRES_AT = specTime(NOW_MS + 30 * DAY_MS)
const KEYS = {
  both: apiKeyOf('both', { organization: 'mine', expiresAt: EXPIRES_AT }),
  figures: apiKeyOf('figures', { organization: 'mine', scopes: ['figures'], expiresAt: EXPIRES_AT }),
  installs: apiKeyOf('installs', { organization: 'mine', scopes: ['installs'], expiresAt: EXPIRES_AT }),
  foreign: apiKeyOf('foreign', { organization: 'other', expiresAt: EXPIRES_AT }),
  keyFigures: apiKeyOf('counted-1', { organization: 'other', expiresAt: EXPIRES_AT }),
  keyInstalls: apiKeyOf('counted-2', { organization: 'other', expiresAt: EXPIRES_AT }),
  ending: apiKeyOf('ending', { organization: 'mine', expiresAt: specTime(NOW_MS + DAY_MS) }),
} as const

describe('the routes of programs', () => {
  let stage: Stage
  before(async () => {
    const organizations = ['mine', 'other'].map((name) =>
      organizationOf(name, { members: { 'anna@acme.dev': 'Owner' } }),
    )
    const websites = websiteOf('my-site', 'mine') + websiteOf('other-site', 'other')
    const keys = Object.values(KEYS).map(({ text }) => text)
    stage = await startStage({ manifests: organizations.join('---\n') + websites + keys.join('') })
  })
  after(() => stage?.stop())

  const read = (path: string, headers: Readonly<Record<string, string>> = {}, address = '192.0.2.9') =>
    stage.ask('GET', path, { headers, address })

  it('only read, and say which scope a key must have', () => {
    expect(keyed.map(([, { path, method, keyScope }]) => [method, path, keyScope])).to.deep.equal([
      ['GET', '/v1/figures', 'figures'],
      ['GET', '/v1/installs', 'installs'],
    ])
  })

  for (const [name, { path, keyScope }] of keyed) {
    it(`${name} needs a key: a session, a made-up key and one that has ended are none`, async () => {
      const madeUp = `Bearer whk_${'A'.repeat(43)}`
      const cookies = await stage.signIn('anna@acme.dev')
      const tries = [{}, { Cookie: cookies }, { Authorization: madeUp }, { Authorization: 'Basic YTpi' }]
      for (const headers of tries) {
        const told = await read(path, headers)
        expect([told.status, told.body], JSON.stringify(headers)).to.deep.equal([401, { error: 'unauthenticated' }])
        expect(told.headers.get('www-authenticate')).to.equal('Bearer')
      }
    })

    it(`${name} answers a key with its scope, and is not there for others`, async () => {
      const isOf = (scope: string): number => (keyScope === scope ? 200 : 404)
      const statuses = [KEYS.both, KEYS.figures, KEYS.installs].map(
        async ({ headers }) => (await read(path, headers)).status,
      )
      expect(await Promise.all(statuses)).to.deep.equal([200, isOf('figures'), isOf('installs')])
    })

    it(`${name} has nothing of another organisation`, async () => {
      for (const [key, own, foreign] of [
        [KEYS.both, 'my-site', 'other-site'],
        [KEYS.foreign, 'other-site', 'my-site'],
      ] as const) {
        expect((await read(`${path}?website=${own}`, key.headers)).status).to.equal(200)
        const told = await read(`${path}?website=${foreign}`, key.headers)
        const none = await read(`${path}?website=no-site`, key.headers)
        expect([told.status, told.text]).to.deep.equal([404, '{"error":"not_found"}'])
        expect(none.text).to.equal(told.text)
      }
    })

    it(`${name} answers no page of another website, and a browser as any program`, async () => {
      const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site', Accept: 'text/html' }
      const told = await read(path, { ...KEYS.both.headers, ...foreign })
      expect(told.status).to.equal(200)
      const names = [...told.headers.keys()].filter((header) => header.startsWith('access-control'))
      expect([names, told.cookies]).to.deep.equal([[], ''])
      const preflight = await stage.ask('OPTIONS', path, { headers: foreign })
      expect([preflight.status, preflight.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD'])
      expect((await read(path, { Accept: 'text/html' })).text).to.equal('{"error":"unauthenticated"}')
    })

    it(`${name} counts requests by key, and tries without one by address`, async () => {
      const statusesOf = async (count: number, headers: Readonly<Record<string, string>>, address: string) =>
        Promise.all(Array.from({ length: count }, async () => (await read(`${path}?from=x`, headers, address)).status))
      const own = await statusesOf(1_210, KEYS[name as keyof typeof KEYS].headers, '10.9.0.1')
      // A new minute may begin in between.
      expect(own.filter((status) => status === 400).length).to.be.within(1, 1_200)
      expect(own).to.include(429)
      expect((await read(path, KEYS.both.headers, '10.9.0.1')).status).to.equal(200)
      const tries = await statusesOf(1_210, { Authorization: `Bearer whk_${'A'.repeat(43)}` }, `10.9.1.${path.length}`)
      expect(tries).to.include(429)
      expect(tries.filter((status) => status === 401).length).to.be.at.least(1)
    })
  }

  it('refuse a key as soon as it has ended, or its object is gone', async () => {
    const { headers } = KEYS.ending
    expect((await read('/v1/figures', headers)).status).to.equal(200)
    stage.advance(DAY_MS)
    expect((await read('/v1/figures', headers)).status).to.equal(401)
    expect((await read('/v1/figures', KEYS.figures.headers)).status).to.equal(200)
    await stage.apply('key.yaml', apiKeyOf('late', { organization: 'mine', expiresAt: EXPIRES_AT }).text)
    const late = apiKeyOf('late', { organization: 'mine', expiresAt: EXPIRES_AT }).headers
    expect((await read('/v1/figures', late)).status).to.equal(200)
    await stage.apply('key.yaml', '')
    await until(async () => (await read('/v1/figures', late)).status === 401)
  })
})

describe('the routes of links', () => {
  const LINK = shareLinkOf('board', { website: 'my-site', expiresAt: EXPIRES_AT })
  const token = LINK.page.slice('/share/'.length)
  let stage: Stage
  before(async () => {
    const manifests = organizationOf('mine', { members: { 'anna@acme.dev': 'Owner' } }) + websiteOf('my-site', 'mine')
    stage = await startStage({ manifests: manifests + LINK.text + KEYS.both.text })
  })
  after(() => stage?.stop())

  it('only read, below one prefix, and take what they show from the link alone', () => {
    expect(shared.map(([, { path, method, query }]) => [method, path, Object.keys(query ?? {})])).to.deep.equal([
      ['GET', '/share/:token', ['metric']],
      ['GET', '/share/:token/figures', []],
    ])
  })

  for (const [name, { path }] of shared) {
    const read = async (shown: string, headers: Readonly<Record<string, string>> = {}) => {
      const told = await stage.ask('GET', path.replace(':token', shown), { headers })
      return [told.status, told.status === 200 ? '' : told.text]
    }

    it(`${name} needs a link: a session, a key, and its name or digest are none`, async () => {
      const cookies = await stage.signIn('anna@acme.dev')
      const { headers } = KEYS.both
      const nothing = [404, '{"error":"not_found"}']
      expect(await read(token)).to.deep.equal([200, ''])
      for (const wrong of ['board', 'my-site', 'mine', hashOfPass(token, sha256Hex), headers.Authorization.slice(7)])
        for (const more of [{}, { Cookie: cookies }, headers])
          expect(await read(wrong, more), wrong).to.deep.equal(nothing)
    })

    it(`${name} is no more for somebody who is signed in`, async () => {
      const cookies = await stage.signIn('anna@acme.dev')
      expect(await read(token, { Cookie: cookies })).to.deep.equal([200, ''])
    })
  }

  it('open no route of programs or of people', async () => {
    for (const [, row] of [...keyed, ...rows.filter(([, { needs }]) => needs !== null)]) {
      const path = row.path.replace(':organization', 'mine')
      const headers = { Authorization: `Bearer ${token}`, Cookie: `__Host-session=${token}; session=${token}` }
      const told = await stage.ask(row.method, path, { headers, ...(row.method === 'GET' ? {} : { body: {} }) })
      expect([401, 404, 429], `${row.method} ${path}`).to.include(told.status)
    }
  })
})
