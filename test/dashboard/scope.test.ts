/** What a handler reads of the facts: its organisation's websites, whatever the request names. */

import { expect } from 'chai'

import { organizationOf, startStage, type Stage } from './support/stage.ts'

const website = (id: string, organization: string): string =>
  `---\napiVersion: whence.dev/v1alpha1\nkind: Website\nmetadata: { name: ${id} }\n` +
  `spec: { organizationRef: { name: ${organization} }, displayName: ${id}, primaryOrigin: 'https://${id}.example', providers: [ga4] }\n`

const MANIFESTS = [
  organizationOf('acme', { members: { 'anna@acme.dev': 'Viewer' } }),
  website('acme-one', 'acme'),
  website('acme-two', 'acme'),
  `---\n${organizationOf('other', { members: { 'bert@other.dev': 'Owner' } })}`,
  website('other-one', 'other'),
  `---\n${organizationOf('empty', { members: { 'anna@acme.dev': 'Owner' } })}`,
].join('')

describe('the facts that a handler reads', () => {
  let stage: Stage
  let cookies: string
  let asked: { readonly query: string; readonly websites: unknown; readonly organization: unknown }[]
  let isAway = false
  before(async () => {
    const run = async (query: string, params: Readonly<Record<string, unknown>>): Promise<never[]> => {
      if (isAway) throw Object.assign(new Error('away'), { name: 'FactsUnavailable' })
      asked.push({ query, websites: params['websites'], organization: params['organization'] })
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

  it('are never of a website of others, which is answered like one that does not exist', async () => {
    const answers = [await overview('?website=other-one'), await overview('?website=nothing')]
    for (const { status, text } of answers) expect([status, text]).to.deep.equal([404, '{"error":"not_found"}'])
    expect(asked).to.deep.equal([])
  })

  it('are answered as unavailable while their store is away', async () => {
    isAway = true
    expect((await overview()).status).to.equal(503)
    expect((await stage.ask('GET', '/api/me', { cookies })).status).to.equal(200)
  })
})
