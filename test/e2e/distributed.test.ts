/** The whole path over many processes, with Kafka, Redis and ClickHouse over HTTP in place of LMDB and chDB. */

import { expect } from 'chai'
import { until } from '../../fixtures/until.ts'
import { startDistributed, type Distributed } from '../../fixtures/service/distributed.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { activeReceipt, eventBody, post, visitBody } from '../../fixtures/service/requests.ts'
import { TEST_ORIGIN } from '../../fixtures/service/service.ts'
import { placeInShared, sharesEngines } from './support/distributed-system.ts'

describe('the service as many processes', function () {
  this.timeout(180_000)
  let system: Distributed

  before(async function () {
    if ((await kafkaJars()) === null) this.skip()
    system = await startDistributed({ engines: await placeInShared() })
  })
  after(() => system?.stop())
  sharesEngines()

  const hitOf = (clientId: string) =>
    system.ga4.requests().find(({ body }) => (body as { client_id?: string }).client_id === clientId)
  const identityOf = (clientId: string) => ({
    ga4: { 'G-TEST000001': { client_id: clientId, session_id: '1790000000' } },
  })

  it('ties an install to its visit, stores one row and reports it to GA4', async () => {
    const clientId = '1111111111.1790000001'
    const receipt = await activeReceipt(system.url, { identities: identityOf(clientId) })
    const event = eventBody({ receipts: [receipt] })
    const first = await post(`${system.url}/v1/events`, event)
    expect(first.body).to.deep.include({ ok: true, duplicate: false, resolution: 'matched', candidate_count: 1 })
    const repeat = await post(`${system.url}/v1/events`, event)
    expect(repeat.body).to.deep.equal({ ...first.body, duplicate: true })
    const hit = await until(() => hitOf(clientId))
    expect(hit.messages).to.deep.equal([])
    const rows = await until(async () => {
      const found = await system.facts.run('installsByEventId', { event_id: event['event_id'] })
      return found.length === 0 ? null : found
    })
    expect(rows.map((row) => row.resolution)).to.deep.equal(['matched'])
  })

  it('accepts a handoff token that another process issued', async () => {
    const handoff = await post(`${system.url}/v1/handoffs`, visitBody(), TEST_ORIGIN)
    await system.restart('api')
    const { body } = await post(`${system.url}/v1/events`, eventBody({ handoff: handoff.body['token'] }))
    expect(body).to.deep.include({ resolution: 'matched', selection_policy: 'handoff' })
  })
})
