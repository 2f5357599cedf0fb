/** Tests of the set-up: recorded and in the quota, and nothing is delivered; without a genuine mark it is ordinary traffic. */

import { expect } from 'chai'

import { issueTestMark } from '../../domain/collection/test-mark.ts'
import { newId } from '../../fixtures/service/requests.ts'
import { startApi, type Api } from './support/api.ts'
import { claimsOf, KEYS } from './support/keys.ts'

describe('a test of the set-up', () => {
  let api: Api
  before(async () => {
    api = await startApi()
  })
  after(() => api.stop())

  const markFor = (website: string): string => {
    const tester = { organization: 'acme', website, person: 'p_0123456789abcdef' }
    return issueTestMark(KEYS, tester, api.service.nowMs())
  }
  const visitFact = async (receipt: string) => {
    await api.service.drain('facts-writer')
    const asked = { organizations: ['acme'], websites: ['acme-dev'], visit_ids: [claimsOf(receipt).visitId] }
    return (await api.service.facts.run('visitsByIds', asked))[0]
  }
  const installFact = async (eventId: string) => {
    await api.service.drain('facts-writer')
    return (await api.service.facts.run('installsByEventId', { event_id: eventId }))[0]
  }

  it('is a page view that is marked, with a receipt like any other', async () => {
    const receipt = await api.activeReceipt({ test: markFor('acme-dev') })
    expect((await visitFact(receipt))?.is_test).to.equal(true)
  })

  it('is an install that is marked and matched, and delivered to nobody', async () => {
    const test = markFor('acme-dev')
    const receipts = [await api.activeReceipt({ test })]
    const event_id = newId()
    const { body } = await api.event({ event_id, receipts, test })
    expect(body['resolution']).to.equal('matched')
    expect(body['ga'].status).to.equal('skipped')
    const fact = await installFact(event_id)
    expect(fact?.is_test).to.equal(true)
    expect(JSON.parse(fact?.deliveries ?? '[]').map(({ reason }: { reason: string }) => reason)).to.deep.equal(['test'])
  })

  it('delivers nothing of an install either that only came from a marked page', async () => {
    const receipts = [await api.activeReceipt({ test: markFor('acme-dev') })]
    const event_id = newId()
    const sent = api.service.ga4.total()
    expect((await api.event({ event_id, receipts })).body['ga'].status).to.equal('pending')
    await api.service.drain()
    const asked = { organization: 'acme', website: 'acme-dev', event_id }
    const deliveries = await api.service.facts.run('deliveriesOfInstall', asked)
    expect(deliveries.map(({ status, reason }) => [status, reason])).to.deep.equal([['skipped', 'test']])
    expect(api.service.ga4.total()).to.equal(sent)
  })

  it('is in no funnel, whatever became of it', async () => {
    await api.service.drain()
    const nowMs = api.service.nowMs()
    const period = { since_ms: nowMs - 3_600_000, until_ms: nowMs + 3_600_000, key_ids: [KEYS.currentKeyId] }
    const asked = { organizations: ['acme'], websites: ['acme-dev'], ...period }
    expect(await api.service.facts.run('visitSteps', asked)).to.deep.equal([])
    await api.activeReceipt()
    await api.service.drain()
    const [step] = await api.service.facts.run('visitSteps', asked)
    expect(step?.counts[0]).to.equal(1)
  })

  it('is ordinary traffic if the mark is made up, of another website, or over', async () => {
    const over = markFor('acme-dev')
    for (const test of ['t1.zzzzzz.p_0123456789abcdef.00000000000000000000000000000000', 'yes', markFor('other')]) {
      const event_id = newId()
      expect((await api.event({ event_id, test })).status, test).to.equal(200)
      expect((await installFact(event_id))?.is_test, test).to.equal(false)
    }
    api.service.advance(11 * 60_000)
    const receipt = await api.activeReceipt({ test: over })
    expect((await visitFact(receipt))?.is_test).to.equal(false)
  })
})
