/** One event, reported a thousand times at once: one row, one delivery, one first answer. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { middayClock } from '../../fixtures/clocks.ts'
import type { Reply } from '../../fixtures/service/requests.ts'
import { until } from '../../fixtures/until.ts'
import { eventBody, freshAddress, startApi, type Api } from './support/api.ts'

const POSTS = 1_000
const TRIES = 20
const PAUSE_MS = 250

describe('a thousand concurrent reports of one event', () => {
  let api: Api
  before(async () => {
    api = await startApi({ nowMs: middayClock() })
  })
  after(() => api.stop())

  it('have one first answer, repeated 999 times, one row and one delivery for each destination', async () => {
    const event = eventBody({ receipts: [await api.activeReceipt()] })
    // From a thousand clients, since one may report only 30 times a minute.
    const replies = await Promise.all(
      Array.from({ length: POSTS }, () => answered(() => api.post('/v1/events', event, { address: freshAddress() }))),
    )
    expect([...new Set(replies.map(({ status }) => status))]).to.deep.equal([200])
    const first = replies.filter(({ body }) => body['duplicate'] === false)
    expect(first.length).to.equal(1)
    const [answer] = first
    expect(answer!.body).to.deep.include({ resolution: 'matched', candidate_count: 1 })
    for (const { body } of replies) expect({ ...body, duplicate: false }).to.deep.equal(answer!.body)
    const deliveries = () =>
      api.service.facts.run('deliveriesOfInstall', {
        organization: 'acme',
        website: 'acme-dev',
        event_id: event['event_id'],
      })
    // On a busy machine the visit may reach the facts so late that the install waits for it in a tier.
    await until(async () => (await deliveries())[0]?.status === 'delivered')
    await api.service.drain()
    const appended = await api.service.eventLog.read('installs', 0, 10)
    expect(appended.length).to.equal(1)
    const rows = await api.service.facts.run('installsByEventId', { event_id: event['event_id'] })
    expect(rows.length).to.equal(1)
    expect(api.service.ga4.total()).to.equal(1)
    expect((await deliveries()).map(({ status }) => status)).to.deep.equal(['delivered'])
    const month = new Date(api.service.nowMs()).toISOString().slice(0, 7)
    expect(await api.service.hotState.readUsage('acme', month)).to.equal(2)
  }).timeout(60_000)
})

/** On a slow machine some may have to retry until the first one is finished. */
async function answered(post: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await post()
    if (reply.status !== 503 || tries === TRIES) return reply
    await wait(PAUSE_MS)
  }
}
