/** How many Secrets an organisation may have: two for each object that refers to some, and ten besides. */

import { expect } from 'chai'

import { secretsAllowed } from '../../domain/plan.ts'
import { secretHit } from '../../dashboard/http/limits.ts'
import { clusterWriter } from '../../dashboard/resources/cluster-writer.ts'
import type { SecretRoom } from '../../dashboard/resources/writer.ts'
import { KubeError, type KubeClient } from '../../runtime/kube/client.ts'
import { organizationOf, startStage, websiteOf, type Stage, type Told } from './support/stage.ts'

describe('Secrets of an organisation', () => {
  let stage: Stage
  let cookies = ''
  let others = ''
  let addresses = 0
  before(async () => {
    const manifests = [
      organizationOf('acme', { members: { 'anna@acme.dev': 'Owner' } }) + websiteOf('site', 'acme'),
      organizationOf('other', { members: { 'dora@other.dev': 'Owner' } }),
    ].join('---\n')
    stage = await startStage({ manifests })
    cookies = await stage.signIn('anna@acme.dev')
    others = await stage.signIn('dora@other.dev')
  })
  after(() => stage.stop())

  /** Each from another address: writes are limited by it. */
  const post = (path: string, body: object, as = cookies, organization = 'acme'): Promise<Told> => {
    const address = `198.51.100.${addresses++ % 250}`
    return stage.ask('POST', `/api/organizations/${organization}/${path}`, { cookies: as, body, address })
  }
  const make = (as = cookies, organization = 'acme') =>
    post('secrets', { values: { 'api-secret': 'only-for-tests' } }, as, organization)

  it('are as many as the rule says', () => {
    expect([0, 1, 20].map(secretsAllowed)).to.deep.equal([10, 12, 50])
    expect(secretHit({ organization: 'acme', allowed: 12 })).to.deep.equal({
      key: 'secrets:acme',
      limit: 12,
      windowS: 86_400,
    })
  })

  it('are refused as a count of the plan beyond that, and more objects make room for more', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => make()))
    expect(made.filter(({ status }) => status === 201)).to.have.lengthOf(10)
    const refused = made.filter(({ status }) => status === 402)
    const body = { error: 'plan_limit', limit: 'secrets', used: 10, allowed: 10, plan: 'Enterprise' }
    expect(refused.map((told) => told.body)).to.deep.equal([body, body])
    expect((await make(others, 'other')).status, 'of another organisation').to.equal(201)

    const name = String(made.find(({ status }) => status === 201)?.body['name'])
    const spec = {
      websiteRef: { name: 'site' },
      provider: 'ga4',
      mode: 'Validate',
      ga4: { measurementId: 'G-ABC1234567', apiSecretRef: { name, key: 'api-secret' } },
    }
    expect((await post('resources/Destination', { name: 'ga4', spec })).status).to.equal(201)
    const more = await Promise.all(Array.from({ length: 3 }, () => make()))
    expect(more.map(({ status }) => status).toSorted()).to.deep.equal([201, 201, 402])
    expect(more.find(({ status }) => status === 402)?.body).to.include({ used: 12, allowed: 12 })
  })

  it('are counted for secrets that the service makes, too', async () => {
    const spec = { url: 'https://hooks.example/in', events: ['install.matched'] }
    const told = await post('webhooks', { displayName: 'Hook', ...spec })
    expect([told.status, told.body['limit'] ?? told.text]).to.deep.equal([402, 'secrets'])
  })

  it('of a cluster use up no place of the day if they were not made', async () => {
    let status = 0
    let taken = 0
    const client = {
      request: async () => {
        if (status !== 0) throw new KubeError(status, 'Refused', 'not now')
        return {}
      },
    } as unknown as KubeClient
    const places = {
      take: async () => {
        taken += 1
        return true
      },
      giveBack: async () => {
        taken -= 1
      },
    }
    const writer = clusterWriter(client, () => 0, places)
    const room: SecretRoom = { organization: 'acme', allowed: 10 }
    const secret = {
      namespace: 'shop',
      name: 'one',
      values: { key: 'only-for-tests' },
      tenant: null,
      owner: null,
      room,
    }
    const makeAt = async (answer: number): Promise<string> => {
      status = answer
      return writer.createSecret(secret).then(
        ({ kind }) => kind,
        () => 'thrown',
      )
    }
    for (const [answer, kind] of [
      [409, 'conflict'],
      [422, 'refused'],
      [503, 'thrown'],
      [0, 'written'],
    ] as const)
      expect([answer, await makeAt(answer), taken]).to.deep.equal([answer, kind, answer === 0 ? 1 : 0])
  })
})
