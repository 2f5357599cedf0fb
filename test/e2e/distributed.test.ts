/** The whole way over many processes: Kafka, Redis and ClickHouse over HTTP in the places of LMDB and chDB. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { startDistributed, ROLES, type Distributed } from '../support/distributed.ts'
import { kafkaJars } from '../support/kafka.ts'
import { activeReceipt, eventBody, post, visitBody } from '../support/requests.ts'
import { TEST_ORIGIN } from '../support/service.ts'

const TRIES = 600
const PAUSE_MS = 100

describe('the service as many processes', function () {
  this.timeout(180_000)
  let system: Distributed

  before(async function () {
    const jars = await kafkaJars()
    if (jars === null) this.skip()
    system = await startDistributed({ engines: { jars } })
  })
  after(() => system?.stop())

  const until = async <T>(look: () => Promise<T | null | undefined> | T | null | undefined): Promise<T> => {
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await look()
      if (found !== null && found !== undefined) return found
      await wait(PAUSE_MS)
    }
    throw new Error('it did not come to pass')
  }
  const hitOf = (clientId: string) =>
    system.ga4.requests().find(({ body }) => (body as { client_id?: string }).client_id === clientId)
  const identityOf = (clientId: string) => ({
    ga4: { 'G-TEST000001': { client_id: clientId, session_id: '1790000000' } },
  })

  it('ties an install to its visit, stores one row and tells GA4', async () => {
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

  it('takes a handoff token that another process issued', async () => {
    const handoff = await post(`${system.url}/v1/handoffs`, visitBody(), TEST_ORIGIN)
    await system.restart('api')
    const { body } = await post(`${system.url}/v1/events`, eventBody({ handoff: handoff.body['token'] }))
    expect(body).to.deep.include({ resolution: 'matched', selection_policy: 'handoff' })
  })

  it('delivers everything that was answered although every role is killed in between', async () => {
    const clientIds = Array.from({ length: 12 }, (_, index) => `2222222222.${1_790_001_000 + index}`)
    const events: string[] = []
    // Kafka takes half a minute to give up on a killed member; the four wait for that at the same time.
    const restarts: Promise<void>[] = []
    for (const [index, clientId] of clientIds.entries()) {
      const receipt = await activeReceipt(system.url, { identities: identityOf(clientId) })
      const event = eventBody({ receipts: [receipt] })
      const { body } = await post(`${system.url}/v1/events`, event)
      expect(body['resolution']).to.equal('matched')
      events.push(event['event_id'])
      const role = ROLES[Math.floor(index / 3)]
      if (index % 3 === 2 && role !== undefined) restarts.push(system.restart(role))
    }
    await Promise.all(restarts)
    for (const clientId of clientIds) await until(() => hitOf(clientId))
    for (const eventId of events) {
      const rows = await until(async () => {
        const found = await system.facts.run('installsByEventId', { event_id: eventId })
        return found.length === 0 ? null : found
      })
      expect(rows).to.have.length(1)
    }
  })
})
