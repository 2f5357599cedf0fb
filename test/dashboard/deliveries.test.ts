/** Deliveries in the dashboard's API, over a real engine. */

import { expect } from 'chai'

import { decodeRecord, encodeRecord, type DeadLetter, type DeliveryRecord } from '../../domain/records.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'
import { attempt, deliveryRecord, store } from '../contract/fact-samples.ts'
import type { Told } from './support/stage.ts'
import { MINE, recently, ROOT, startTwoOrganizations, type TwoOrganizations } from './support/two-organizations.ts'

const HOUR_MS = 3_600_000

describe('Deliveries in the dashboard', () => {
  let both: TwoOrganizations
  before(async () => {
    both = await startTwoOrganizations(['acme-one'])
  })
  after(() => both?.stop())

  it('are counted by destination and cause', async () => {
    const failed = {
      ...MINE,
      destination: 'acme-ga4',
      status: 'failed',
      reason: 'refused',
      atMs: Date.now() - HOUR_MS,
    } as const
    await store(both.facts, [deliveryRecord({ ...failed, eventId: 'event-bad' }), deliveryRecord(failed)])
    await store(both.facts, [deliveryRecord({ website: 'other-one', organization: 'other', status: 'failed' })])
    const { body } = await both.get('deliveries?website=acme-one')
    const group = body['groups'].find(({ status }: { status: string }) => status === 'failed')
    expect(group).to.include({ destination: 'acme-ga4', reason: 'refused', deliveries: 2 })
    expect(JSON.stringify(body)).not.to.include('other-one')
  })

  it('are sent again by Members, if they failed', async () => {
    const job = { ...jobOf(), ...MINE, destination: 'acme-ga4', deadlineAtMs: Date.now() + HOUR_MS }
    const letter: DeadLetter = { v: 1, job, reason: 'refused: http_400', failedAtMs: Date.now() }
    await both.stage.eventLog.append('dead-letters', [{ key: job.jobId, value: encodeRecord(letter) }])
    const state = { eventId: job.install.eventId, destination: 'acme-ga4', status: 'failed' } as const
    await store(both.facts, [deliveryRecord({ ...MINE, ...state, atMs: Date.now() })])
    const replay = (cookies: string, body: object, organization = 'acme'): Promise<Told> =>
      both.stage.ask('POST', `${ROOT}/${organization}/deliveries/replay`, { cookies, body, address: '198.51.100.251' })
    expect((await replay(both.vera, { website: 'acme-one' })).status).to.equal(403)
    expect((await replay(both.bert, { website: 'acme-one' }, 'other')).status).to.equal(404)
    const told = await replay(both.anna, { website: 'acme-one', job: job.jobId })
    expect(told.body).to.deep.equal({ replayed: 1, refused: 0, mayHaveMore: false })
    const [sent] = await both.stage.eventLog.read('deliver.ga4', 0, 10)
    expect(sent?.value).to.include(job.jobId)
    expect(await both.activity('deliveries_replayed')).to.have.lengthOf(1)
  })

  it('are listed by state and by answer, page by page', async () => {
    const of = { ...MINE, destination: 'acme-list', provider: 'meta' } as const
    const refusal = {
      outcome: 'refused',
      code: 'http_400',
      responseStatus: 400,
      responseBody: 'Invalid pixel',
    } as const
    const failing = Array.from({ length: 203 }, (_, index) => {
      const startedAtMs = recently(index)
      const tried = attempt({ ...refusal, startedAtMs, responseBody: `Invalid pixel ${index}` })
      const done = { status: 'failed', reason: 'refused', attempts: 1, atMs: startedAtMs, attempt: tried } as const
      return deliveryRecord({ ...of, ...done, deadlineAtMs: Date.now() + HOUR_MS })
    })
    const late = deliveryRecord({ ...of, status: 'expired', reason: 'deadline_passed', atMs: recently(400) })
    await store(both.facts, [...failing, late])
    await store(both.facts, failing)
    const first = await both.get('deliveries/list?destination=acme-list&status=failed')
    const second = await both.get(`deliveries/list?destination=acme-list&status=failed&cursor=${first.body['next']}`)
    expect([first.body['deliveries'].length, second.body['deliveries'].length, second.body['next']]).to.deep.equal([
      200,
      3,
      null,
    ])
    const ids = [...first.body['deliveries'], ...second.body['deliveries']].map(({ delivery }) => delivery.event_id)
    expect(ids).to.deep.equal(failing.toReversed().map(({ eventId }) => eventId))
    expect(first.body['deliveries'][0].last).to.deep.equal({
      status: 400,
      code: 'http_400',
      words: 'Invalid pixel 202',
    })
    const answered = await both.get('deliveries/list?destination=acme-list&code=http_400&answered=400')
    expect(answered.body['deliveries']).to.have.lengthOf(200)
    expect(
      (await both.get('deliveries/list?destination=acme-list&code=http_400&answered=500')).body['deliveries'],
    ).to.deep.equal([])
    const download = await both.get('deliveries/export?destination=acme-list&status=expired')
    expect(download.text.trimEnd().split('\r\n').at(-1)).to.match(
      /^# 1 deliveries that changed last from 20\d\d-\d\d-\d\dT[\d:.]+Z to 20\d\d-\d\d-\d\dT[\d:.]+Z$/,
    )
    const { body } = await both.get('deliveries')
    const [error] = body['errors'].filter(({ destination }: { destination: string }) => destination === 'acme-list')
    expect(error).to.include({ status: 400, code: 'http_400', deliveries: 203, tries: 203, words: 'Invalid pixel 202' })
    expect((await both.get(`deliveries/list?cursor=${first.body['next']}`, both.bert, 'other')).status).to.equal(400)
    expect((await both.get('deliveries/list', both.bert, 'other')).text).not.to.include('acme-list')
  })

  it('are sent again only by name if they may count twice', async () => {
    const atMs = Date.now() - 60_000
    const open = { deadlineAtMs: atMs + HOUR_MS, atMs }
    const own = { ...MINE, ...open, jobId: 'job-unclear', destination: 'acme-unclear' }
    const job = { ...jobOf({ install: { eventId: 'event-unclear' } }), ...own, provider: 'meta' as const }
    const letter = { v: 1, reason: 'unclear_too_long', failedAtMs: atMs, job: { ...job, unclearSinceMs: 1 } }
    await both.stage.eventLog.append('dead-letters', [{ key: job.jobId, value: encodeRecord(letter as DeadLetter) }])
    const state = { ...own, eventId: 'event-unclear', status: 'failed', reason: 'unclear_too_long' } as const
    await store(both.facts, [deliveryRecord(state)])
    const replay = async (more: object) => {
      const body = { website: 'acme-one', destination: 'acme-unclear', ...more }
      const address = '198.51.100.253'
      return (await both.stage.ask('POST', `${ROOT}/acme/deliveries/replay`, { cookies: both.anna, body, address }))
        .body
    }
    expect(await replay({})).to.deep.equal({ replayed: 0, refused: 0, mayHaveMore: false })
    expect(await replay({ reason: 'unclear_too_long' })).to.deep.equal({ replayed: 1, refused: 0, mayHaveMore: false })
    const [sent] = await both.stage.eventLog.read('deliver.meta', 0, 10)
    expect(JSON.parse(sent?.value ?? '')).to.include({ jobId: 'job-unclear', unclearSinceMs: null })
  })

  it('are sent again by the reason of their failure, fifty at a time, until none is left', async () => {
    const failed = { ...MINE, destination: 'acme-again', status: 'failed', reason: 'refused' } as const
    // A failure of a moment ago still counts as earlier: clocks differ.
    const atMs = Date.now() - 60_000
    const open = { deadlineAtMs: atMs + HOUR_MS, atMs }
    const jobs = Array.from({ length: 52 }, (_, index) => ({
      ...jobOf({ install: { eventId: `event-again-${index}` } }),
      ...MINE,
      ...open,
      jobId: `job-again-${index}`,
      destination: 'acme-again',
    }))
    const letters = jobs.map((job): DeadLetter => ({ v: 1, job, reason: 'refused: http_400', failedAtMs: atMs }))
    await both.stage.eventLog.append(
      'dead-letters',
      letters.map((letter) => ({ key: letter.job.jobId, value: encodeRecord(letter) })),
    )
    const states = jobs.map(({ jobId, install }) =>
      deliveryRecord({ ...failed, ...open, jobId, eventId: install.eventId }),
    )
    const over = deliveryRecord({ ...failed, atMs, deadlineAtMs: atMs - 1 })
    await store(both.facts, [...states, over, deliveryRecord({ ...failed, ...open, reason: 'retries_ran_out' })])
    const replay = async () => {
      const body = { website: 'acme-one', destination: 'acme-again', reason: 'refused' }
      const told = await both.stage.ask('POST', `${ROOT}/acme/deliveries/replay`, {
        cookies: both.anna,
        body,
        address: '198.51.100.252',
      })
      const again = await both.stage.eventLog.read('deliveries', 0, 1_000)
      await store(
        both.facts,
        again.map(({ value }) => decodeRecord<DeliveryRecord>(value)),
        1_000,
      )
      return told.body
    }
    expect(await replay()).to.deep.equal({ replayed: 50, refused: 0, mayHaveMore: true })
    expect(await replay()).to.deep.equal({ replayed: 2, refused: 0, mayHaveMore: false })
    expect(await replay()).to.deep.equal({ replayed: 0, refused: 0, mayHaveMore: false })
  })
})
