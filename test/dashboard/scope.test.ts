/** What a handler reads of the facts: its organisation's websites, whatever the request names. */

import { expect } from 'chai'

import { FactsUnavailable, type RunOptions } from '../../ports/facts/facts.ts'
import type { KeptWebsite } from '../../ports/facts/erasure/kept.ts'
import { organizationOf, startStage, type Stage, websiteOf } from './support/stage.ts'

const MANIFESTS = [
  organizationOf('acme', { members: { 'anna@acme.dev': 'Viewer' } }),
  websiteOf('acme-one', 'acme'),
  websiteOf('acme-two', 'acme').replace('providers:', 'retentionDays: 30, providers:'),
  `---\n${organizationOf('other', { members: { 'bert@other.dev': 'Owner' } })}`,
  websiteOf('other-one', 'other'),
  `---\n${organizationOf('empty', { members: { 'anna@acme.dev': 'Owner' } })}`,
].join('')

describe('the facts that a handler reads', () => {
  let stage: Stage
  let cookies: string
  let asked: {
    readonly query: string
    readonly websites: unknown
    readonly organization: unknown
    readonly kept: unknown
  }[]
  let isAway = false
  before(async () => {
    const run = async (
      query: string,
      params: Readonly<Record<string, unknown>>,
      options: RunOptions,
    ): Promise<never[]> => {
      if (isAway) throw new FactsUnavailable('away')
      asked.push({ query, websites: params['websites'], organization: params['organization'], kept: options.kept })
      return []
    }
    stage = await startStage({ manifests: MANIFESTS, facts: { run } as never })
    cookies = await stage.signIn('anna@acme.dev')
  })
  beforeEach(() => {
    asked = []
    isAway = false
  })
  after(() => stage?.stop())

  const overview = (query = '', organization = 'acme') =>
    stage.ask('GET', `/api/organizations/${organization}/overview${query}`, { cookies })

  it('are of all its websites, or of the one that it names', async () => {
    expect((await overview()).status).to.equal(200)
    expect((await overview('?website=acme-two')).status).to.equal(200)
    expect((await overview('', 'empty')).status).to.equal(200)
    const seen = asked.map(({ websites, organization }) => JSON.stringify([organization, websites]))
    expect([...new Set(seen)]).to.deep.equal([
      '["acme",["acme-one","acme-two"]]',
      '["acme",["acme-two"]]',
      '["empty",[]]',
    ])
  })

  it('are what each website keeps now', async () => {
    expect((await overview('?website=acme-two')).status).to.equal(200)
    const dayMs = 86_400_000
    for (const { kept } of asked) {
      const [{ website, sinceMs }, ...more] = kept as readonly [KeptWebsite, ...KeptWebsite[]]
      expect([website, more]).to.deep.equal(['acme-two', []])
      expect((Date.now() - sinceMs) / dayMs).to.be.within(30, 30.1)
    }
  })

  it('are never of a website of others, which is answered like one that does not exist', async () => {
    const answers = [await overview('?website=other-one'), await overview('?website=nothing')]
    for (const { status, text } of answers) expect([status, text]).to.deep.equal([404, '{"error":"not_found"}'])
    expect(asked).to.deep.equal([])
  })

  it('are answered as unavailable while their store is unreachable', async () => {
    isAway = true
    // Not asked for in the last second: what is known from then is still shown.
    expect((await overview('?website=acme-one')).status).to.equal(503)
    const { body } = await stage.ask('GET', '/api/organizations/acme/websites', { cookies })
    expect(body['websites']).to.deep.equal([
      { id: 'acme-one', displayName: 'acme-one' },
      { id: 'acme-two', displayName: 'acme-two' },
    ])
    expect((await stage.ask('GET', '/api/me', { cookies })).status).to.equal(200)
  })
})
