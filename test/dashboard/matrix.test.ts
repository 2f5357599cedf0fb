/** Every route, as every role, in the own organisation, in another one and in one that does not exist. */

import { expect } from 'chai'

import type { RouteRow } from '../../dashboard/http/route.ts'
import { ROUTES } from '../../dashboard/routes.ts'
import { MEMBER_ROLES } from '../../domain/model.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { billingOver } from './support/billing.ts'
import { organizationOf, startStage, type Stage, type Told } from './support/stage.ts'

const rows: readonly (readonly [string, RouteRow])[] = Object.entries(ROUTES)
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
