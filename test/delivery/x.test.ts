/** X: the golden request, what X's answers mean, and deliveries through a worker to its stand-in. */

import { expect } from 'chai'

import { x } from '../../delivery/providers/x.ts'
import { checkXRequest, startXStandIn } from '../../stand-ins/x.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { AD_DESTINATIONS, adJob } from '../../fixtures/delivery/ad-install.ts'
import { AdStage } from './support/ad-stage.ts'
import {
  bodyOf,
  built,
  contextOf,
  describeAdProvider,
  describeOutcomes,
  PLAIN_ROWS,
  replyOf,
  SOON_MS,
  type OutcomeRow,
} from './support/ad-provider.contract.ts'
import { DAY_MS } from '../../fixtures/delivery/builders.ts'
import { TestClock } from '../../fixtures/delivery/harness.ts'

const TOKEN = 'x+canary/token='
const destination = AD_DESTINATIONS.x
const context = contextOf(destination, { pixelToken: TOKEN })

describe('the X request', () => {
  it('of an install two hours after the visit', () => {
    const request = built(x, adJob(destination), context)
    expect({ ...request, body: bodyOf(request) }).to.deep.equal({
      method: 'POST',
      path: '/12/measurement/conversions/o8z6j',
      query: {},
      headers: { 'content-type': 'application/json', 'x-pixel-token': TOKEN },
      body: {
        conversions: [
          {
            conversion_time: '2026-11-20T12:00:00.000Z',
            event_id: 'tw-o8z6j-o87ne',
            conversion_id: adJob(destination).jobId,
            identifiers: [{ twclid: 'canarytwclid' }],
            number_items: 1,
          },
        ],
      },
      sessionMode: 'original_session_window',
      detail: 'twclid',
      secrets: [TOKEN, 'canarytwclid'],
    })
  })

  it('is not made without a proper click ID, nor for a click past the longest window', () => {
    const asked = (identity: object) => x.request(adJob(destination, { identities: { x: identity } }), context, SOON_MS)
    expect(asked({ twclid_at: 1 })).to.deep.equal({ kind: 'skip', reason: 'no_identifier' })
    expect(asked({ twclid: 'a b' })).to.deep.equal({ kind: 'skip', reason: 'no_identifier' })
    const twclid = 'a'
    expect(asked({ twclid, twclid_at: SOON_MS - 90 * DAY_MS })).to.deep.equal({ kind: 'skip', reason: 'too_old' })
    expect(asked({ twclid, twclid_at: SOON_MS - 90 * DAY_MS + 1 })).to.have.property('body')
  })

  it('in mode Validate is checked here, its settings too', () => {
    const checked = (settings: Record<string, unknown>) =>
      built(x, adJob(destination), { ...context, isValidateOnly: true, settings }).checkedHere
    expect(checked({ pixelId: 'o8z6j', eventId: 'o87ne' })).to.deep.equal([])
    expect(checked({ pixelId: 'o8z6j', eventId: 'tw-o8z6j-o87ne' })).to.deep.equal([])
    expect(checked({ pixelId: 'O8Z6J', eventId: 'My Event' })).to.have.lengthOf(2)
  })

  describeAdProvider({
    provider: x,
    destination,
    context,
    check: checkXRequest,
    idsIn: (body) => body.conversions.map((each: { conversion_id: string }) => each.conversion_id),
  })
})

describe("the meaning of X's answers", () => {
  const errors = (...codes: string[]) => ({ errors: codes.map((code) => ({ code, message: 'twclid abc' })) })
  const rows: readonly OutcomeRow[] = [
    ['one processed', { json: { data: { conversions_processed: 1 } } }, 'delivered', 'processed'],
    ['none processed', { json: { data: { conversions_processed: 0 } } }, 'refused', 'conversions_processed 0'],
    ['a wrong parameter', { status: 400, json: errors('INVALID_PARAMETER', 'OTHER') }, 'refused', 'INVALID_PARAMETER'],
    ['a wrong token', { status: 401, json: errors('UNAUTHORIZED_ACCESS') }, 'credentials', 'UNAUTHORIZED_ACCESS'],
    [
      'no access',
      { status: 403, json: errors('UNAUTHORIZED_CLIENT_APPLICATION') },
      'credentials',
      'UNAUTHORIZED_CLIENT_APPLICATION',
    ],
    ['an unknown pixel', { status: 404, json: errors('NOT_FOUND') }, 'credentials', 'NOT_FOUND'],
    ['a 404 that is not of X', { status: 404, body: '<html>' }, 'refused', 'http_404'],
    ['a cancelled request', { status: 408, json: errors('CANCELLED_REQUEST') }, 'retry', 'CANCELLED_REQUEST'],
    ['a lock', { status: 423, json: errors('LOCK_ACQUISITION_TIMEOUT') }, 'retry', 'LOCK_ACQUISITION_TIMEOUT'],
    ['too many requests', { status: 429, json: errors('TOO_MANY_REQUESTS') }, 'throttled', 'TOO_MANY_REQUESTS'],
    ['over capacity', { status: 503, json: errors('OVER_CAPACITY') }, 'retry', 'OVER_CAPACITY'],
    ['a code that repeats what was sent', { status: 400, json: errors('twclid abc') }, 'refused', 'http_400'],
    ...PLAIN_ROWS,
  ]
  describeOutcomes(x, context, rows)

  it('takes the end of the rate window for the wait, unless it is given one', () => {
    const throttled = (headers: Record<string, string>) => x.outcome(replyOf({ status: 429, headers }), context)
    const reset = { 'x-rate-limit-reset': '1795176000' }
    expect(throttled(reset)).to.include({ retryAfter: 'Fri, 20 Nov 2026 12:00:00 GMT' })
    expect(throttled({ ...reset, 'retry-after': '7' })).to.include({ retryAfter: '7' })
    expect(throttled({ 'x-rate-limit-reset': 'soon' })).to.include({ retryAfter: null })
  })

  it('of a batch is one outcome for all, and after a refusal the halves are tried', () => {
    const jobs = [adJob(destination), adJob(destination)]
    const outcomes = (reply: Parameters<typeof replyOf>[0]) => x.batch?.outcomes(replyOf(reply), jobs, context)
    const processed = { kind: 'delivered', code: 'processed' }
    expect(outcomes({ json: { data: { conversions_processed: 2 } } })).to.deep.equal([processed, processed])
    expect(outcomes({ status: 400, json: errors('INVALID_PARAMETER') })).to.equal('split')
    expect(outcomes({ status: 401, json: errors('UNAUTHORIZED_ACCESS') })).to.have.lengthOf(2)
  })
})

describe('a worker for X', () => {
  let standIn: StandInServer
  let stage: AdStage
  let clock: TestClock

  async function set({
    isEvent = () => true,
    ...guard
  }: { perMinute?: number; isEvent?: () => boolean } = {}): Promise<void> {
    clock = new TestClock()
    const isToken = (token: string): boolean => token === TOKEN
    standIn = await startXStandIn({ port: 0, nowMs: clock.nowMs, guard: { isToken, ...guard }, isEvent })
    const secrets = { pixelToken: TOKEN }
    stage = await AdStage.set({ provider: x, destination, secrets, baseUrl: standIn.url, clock })
  }
  afterEach(async () => {
    await stage.strike()
    await standIn.close()
  })

  it('delivers, and keeps no identifier and no token of what it sent', async () => {
    await set()
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'delivered', detail: 'twclid' })
    expect(JSON.stringify(record)).not.to.contain('canary')
    expect(standIn.requests()[0]).to.deep.include({ key: 'o8z6j', messages: [], hasToken: true })
  })

  it('pauses the destination at an event that is not in the account', async () => {
    await set({ isEvent: () => false })
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'retrying', reason: 'credentials_refused' })
    expect(record?.attempt?.code).to.equal('NOT_FOUND')
    expect(await stage.activityTypes()).to.deep.equal(['destination_paused'])
  })

  it('waits for the end of the rate window', async () => {
    await set({ perMinute: 0 })
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'retrying', reason: 'throttled' })
    expect(record?.nextAttemptAtMs).to.be.greaterThan((record?.atMs ?? 0) + 4_000)
  })

  it('gives up what X refuses, with its code and none of its words', async () => {
    await set()
    const body = JSON.stringify({ errors: [{ code: 'INVALID_PARAMETER', message: 'twclid canarytwclid' }] })
    standIn.fail('o8z6j', { kind: 'status', status: 400, body })
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'failed', reason: 'refused' })
    expect(record?.attempt?.code).to.equal('INVALID_PARAMETER')
    expect(JSON.stringify(record)).not.to.contain('canary')
  })

  it('in mode Validate checks here and sends nothing, and says what is wrong with the settings', async () => {
    await set()
    stage.setup.destination = { ...destination, mode: 'Validate' }
    await stage.enqueue(adJob(destination))
    expect((await stage.recorded(1))[0]?.attempt).to.include({ code: 'checked_here' })
    stage.setup.destination = { ...stage.setup.destination, settings: { pixelId: 'o8z6j', eventId: 'Install!' } }
    await stage.enqueue(adJob(destination, { install: { eventId: 'event-0002' } }))
    const records = await stage.recorded(2)
    expect(records[1]).to.include({ status: 'failed', reason: 'refused' })
    expect(records[1]?.attempt?.code).to.equal('eventId is not an event ID')
    expect(standIn.total()).to.equal(0)
  })
})
