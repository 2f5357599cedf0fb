/** What survives a restart of the process and a change of its master secrets. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { middayClock } from '../../fixtures/clocks.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { eventBody, startApi, visitBody, type Api } from './support/api.ts'

const NEW_SECRET = 'another-master-secret-for-tests-number-2'
const DAY_MS = 86_400_000

describe('a restart', () => {
  let folder: string
  let api: Api | null = null
  let clock: () => number
  beforeEach(async () => {
    clock = middayClock()
    folder = await mkdtemp(join(tmpdir(), 'whence-restart-'))
  })
  afterEach(async () => {
    await api?.stop()
    api = null
    await rm(folder, { recursive: true, force: true })
  })

  const start = async (env: Record<string, string> = {}, nowMs = clock): Promise<Api> => {
    await api?.stop()
    api = await startApi({ folder, env, nowMs })
    return api
  }

  it('forgets no answer, no receipt state, no installation and no tracked event', async () => {
    let now = await start()
    const first = await now.activeReceipt()
    const second = await now.activeReceipt({ previous_receipt: first })
    const inactive = (await now.visit()).body['marker'].receipt
    const event = eventBody({ receipts: [second] })
    const answer = (await now.post('/v1/events', event)).body
    const month = new Date(now.service.nowMs()).toISOString().slice(0, 7)
    const used = await now.service.hotState.readUsage('acme', month)
    now = await start()
    expect((await now.post('/v1/events', event)).body).to.deep.equal({ ...answer, duplicate: true })
    expect((await now.event({ receipts: [first, second] })).body).to.deep.include({
      resolution: 'matched',
      candidate_count: 1,
    })
    expect((await now.event({ receipts: [inactive] })).body).to.deep.include({ resolution: 'unmatched' })
    expect((await now.activate(first)).body).to.deep.equal({ error: 'receipt_revoked' })
    expect((await now.event({ installation_id: event['installation_id'] })).body['selection_policy']).to.equal(
      'same_installation',
    )
    expect(await now.service.hotState.readUsage('acme', month)).to.equal(used + 3)
    await now.service.drain('facts-writer')
    expect((await now.service.facts.run('installsByEventId', { event_id: event['event_id'] })).length).to.equal(1)
  })

  it('does not reset the daily limit of a client address', async () => {
    let nowMs = Date.UTC(2040, 10, 21, 12)
    const own = (): number => nowMs
    let now = await start({}, own)
    const address = '192.0.2.77'
    for (let minute = 0; minute < 17; minute++) {
      const count = minute === 16 ? 20 : 30
      const replies = await Promise.all(Array.from({ length: count }, () => now.event({}, { address })))
      expect(replies.every(({ status }) => status === 200)).to.equal(true)
      nowMs += 60_000
    }
    now = await start({}, own)
    expect((await now.event({}, { address })).status).to.equal(429)
    expect((await now.event()).status).to.equal(200)
  })

  it('with a new secret in front still reads what the old one signed, and signs with the new one', async () => {
    let now = await start()
    const old = await now.activeReceipt()
    const oldInactive = (await now.visit()).body['marker'].receipt
    const { token } = (await now.handoff({ receipt: old })).body
    now = await start({ WHENCE_SECRET: `${NEW_SECRET}\n${TEST_SECRET}` })
    expect((await now.event({ receipts: [old] })).body['resolution']).to.equal('matched')
    expect((await now.event({ handoff: token })).body['selection_policy']).to.equal('handoff')
    expect((await now.activate(oldInactive)).body).to.deep.equal({ ok: true })
    expect((await now.handoff({ receipt: old })).body['token']).to.equal(token)
    const fresh = await now.activeReceipt({ previous_receipt: old })
    expect((await now.event({ receipts: [old, fresh] })).body).to.deep.include({
      resolution: 'matched',
      candidate_count: 1,
    })
    now = await start({ WHENCE_SECRET: NEW_SECRET })
    expect((await now.event({ receipts: [fresh] })).body['resolution']).to.equal('matched')
    expect((await now.event({ receipts: [oldInactive] })).body['resolution']).to.equal('unmatched')
    expect((await now.activate(oldInactive)).body).to.deep.equal({ error: 'receipt_not_found' })
    expect((await now.event({ handoff: token })).body['resolution']).to.equal('unmatched')
    expect((await now.handoff(visitBody())).status).to.equal(200)
  })

  it('remembers answers for 31 days', async () => {
    let nowMs = Date.UTC(2040, 10, 21, 12)
    const now = await start({}, () => nowMs++)
    const event = eventBody()
    await now.post('/v1/events', event)
    nowMs += 30 * DAY_MS
    expect((await now.post('/v1/events', event)).body['duplicate']).to.equal(true)
  })
})
