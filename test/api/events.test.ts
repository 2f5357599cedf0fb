/** `POST /v1/events`: which visit an install belongs to, told once. */

import { expect } from 'chai'
import { activeReceipt, eventBody, post, visitBody } from '../support/requests.ts'
import { startTestService, TEST_ORIGIN, type TestService } from '../support/service.ts'

describe('POST /v1/events', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  const report = (more: Record<string, unknown>) => post(`${service.url}/v1/events`, eventBody(more))

  it('ties an install to the visit whose receipt it carries', async () => {
    const receipt = await activeReceipt(service.url)
    const { status, body } = await report({ receipts: [receipt] })
    expect(status).to.equal(200)
    expect(body).to.deep.include({
      ok: true,
      duplicate: false,
      resolution: 'matched',
      candidate_count: 1,
      selection_policy: 'latest_visit',
    })
    expect(body['ga']).to.deep.equal({
      status: 'pending',
      deliveries: [{ destination: 'acme-ga4', status: 'pending', session_mode: 'original_session_window' }],
    })
  })

  it('writes one row and one delivery that name the same visit', async () => {
    const receipt = await activeReceipt(service.url, { page_url: `${TEST_ORIGIN}/same` })
    const event = eventBody({ receipts: [receipt] })
    await post(`${service.url}/v1/events`, event)
    await service.drain()
    const [install, ...more] = await service.facts.run('installsByEventId', { event_id: event['event_id'] })
    expect(more).to.deep.equal([])
    const [visit] = await service.facts.run('visitsByIds', { websites: ['acme-dev'], visit_ids: [install!.visit_id] })
    expect(visit!.page_url).to.equal(`${TEST_ORIGIN}/same`)
    const clientId = JSON.parse(visit!.identities).ga4['G-TEST000001'].client_id
    const hit = service.ga4
      .requests()
      .find(({ body }) => (body as any).events[0].params.install_path === 'cli' && (body as any).client_id === clientId)
    expect(hit?.messages).to.deep.equal([])
  })

  it('answers a repeat with the first answer, whatever it says', async () => {
    const receipt = await activeReceipt(service.url)
    const event = eventBody({ receipts: [receipt] })
    const first = await post(`${service.url}/v1/events`, event)
    const repeat = await post(`${service.url}/v1/events`, { ...event, receipts: [], event_type: 'first_run' })
    expect(repeat.status).to.equal(200)
    expect(repeat.body).to.deep.equal({ ...first.body, duplicate: true })
  })

  it('takes a handoff token and says so', async () => {
    const handoff = await post(`${service.url}/v1/handoffs`, visitBody(), TEST_ORIGIN)
    const { body } = await report({ handoff: handoff.body['token'] })
    expect(body).to.deep.include({ resolution: 'matched', candidate_count: 1, selection_policy: 'handoff' })
  })

  it('follows an installation to the visit of its first event', async () => {
    const receipt = await activeReceipt(service.url)
    const first = eventBody({ receipts: [receipt] })
    await post(`${service.url}/v1/events`, first)
    const { body } = await report({ installation_id: first['installation_id'], event_type: 'first_run' })
    expect(body).to.deep.include({ resolution: 'matched', candidate_count: 0, selection_policy: 'same_installation' })
  })

  it('ignores receipts that are no candidates and still records the install', async () => {
    const visit = await post(`${service.url}/v1/visits`, visitBody(), TEST_ORIGIN)
    const neverActivated = visit.body['marker'].receipt
    const { status, body } = await report({ receipts: ['A'.repeat(43), neverActivated], handoff: null })
    expect(status).to.equal(200)
    expect(body).to.deep.include({ resolution: 'unmatched', candidate_count: 0, selection_policy: 'none' })
    expect(body['ga']['deliveries'][0]).to.deep.include({ status: 'skipped', session_mode: 'none' })
  })
})
