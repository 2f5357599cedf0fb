/** TikTok: the golden request, what TikTok's answers mean, and deliveries through a worker to its stand-in. */

import { expect } from 'chai'

import { tiktok } from '../../delivery/providers/tiktok.ts'
import { checkTiktokRequest, startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { AD_DESTINATIONS, adJob, IDENTITIES } from '../../fixtures/delivery/ad-install.ts'
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
import { DAY_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'
import { TestClock, until } from '../../fixtures/delivery/harness.ts'

const TOKEN = 'tiktok+canary/token='
const destination = AD_DESTINATIONS.tiktok
const context = contextOf(destination, { accessToken: TOKEN })

describe('the TikTok request', () => {
  it('of an install two hours after the visit', () => {
    const request = built(tiktok, adJob(destination), context)
    expect({ ...request, body: bodyOf(request) }).to.deep.equal({
      method: 'POST',
      path: '/open_api/v1.3/event/track/',
      query: {},
      headers: { 'content-type': 'application/json', 'access-token': TOKEN },
      body: {
        event_source: 'web',
        event_source_id: 'C4PIXELCODE',
        data: [
          {
            event: 'Download',
            event_time: NOON_MS / 1_000,
            event_id: adJob(destination).jobId,
            user: { ttclid: 'E.C.P.canary-ttclid', ttp: 'canary-ttp' },
            page: { url: 'https://acme.dev/install' },
            properties: { content_type: 'product' },
            limited_data_use: false,
          },
        ],
      },
      sessionMode: 'original_session_window',
      detail: 'ttclid and ttp',
      secrets: [TOKEN, 'E.C.P.canary-ttclid', 'canary-ttp'],
    })
  })

  it('leaves out a click that no window reaches any more, and is not made if nothing is left', () => {
    const at = (ttclid_at: number, more: object = {}) =>
      adJob(destination, { identities: { tiktok: { ttclid: 'a', ttclid_at, ...more } } })
    const userOf = (job: ReturnType<typeof at>) => bodyOf(built(tiktok, job, context)).data[0].user
    expect(userOf(at(SOON_MS - 28 * DAY_MS + 1))).to.deep.equal({ ttclid: 'a' })
    expect(userOf(at(SOON_MS - 28 * DAY_MS, { ttp: 'b' }))).to.deep.equal({ ttp: 'b' })
    const skip = { kind: 'skip', reason: 'no_identifier' }
    expect(tiktok.request(at(SOON_MS - 28 * DAY_MS), context, SOON_MS)).to.deep.equal(skip)
    expect(tiktok.request(at(NOON_MS, { ttclid: 'a b' }), context, SOON_MS)).to.deep.equal(skip)
  })

  it('takes event name and limited data use from the settings', () => {
    const settings = { pixelCode: 'C1', eventName: 'InstallCLI', limitedDataUse: true }
    const [event] = bodyOf(built(tiktok, adJob(destination), { ...context, settings })).data
    expect(event).to.include({ event: 'InstallCLI', limited_data_use: true })
  })

  it('in mode Validate is sent only with a test event code', () => {
    const validate = { ...context, isValidateOnly: true }
    const settings = { ...destination.settings, testEventCode: 'TEST12345' }
    const request = built(tiktok, adJob(destination), { ...validate, settings })
    expect(bodyOf(request).test_event_code).to.equal('TEST12345')
    expect(request).not.to.have.property('checkedHere')
    expect(built(tiktok, adJob(destination), validate).checkedHere).to.deep.equal([])
    expect(bodyOf(built(tiktok, adJob(destination), { ...context, settings }))).not.to.have.property('test_event_code')
  })

  describeAdProvider({
    provider: tiktok,
    destination,
    context,
    check: checkTiktokRequest,
    idsIn: (body) => body.data.map((event: { event_id: string }) => event.event_id),
  })
})

describe("the meaning of TikTok's answers", () => {
  const rows: readonly OutcomeRow[] = [
    ['code 0', { json: { code: 0, message: 'OK' } }, 'delivered', '0'],
    ['a partial success', { json: { code: 20_001 } }, 'delivered', '20001 partial success'],
    ['too many requests inside 200', { json: { code: 40_100 } }, 'throttled', '40100'],
    ['a bad token inside 200', { json: { code: 40_105 } }, 'credentials', '40105'],
    ['a missing permission inside 200', { json: { code: 40_001 } }, 'credentials', '40001'],
    ['a wrong parameter inside 200', { json: { code: 40_002, message: 'ttclid a' } }, 'refused', '40002'],
    ['another error about the request', { json: { code: 40_900 } }, 'refused', '40900'],
    ['an error about the service', { json: { code: 51_000 } }, 'retry', '51000'],
    ['a code that says nothing', { json: { code: -1 } }, 'retry', '-1'],
    ['a code that is a text', { json: { code: '0' } }, 'retry', 'unreadable_answer'],
    ['a wrong parameter with 400', { status: 400, json: { code: 40_002 } }, 'refused', '40002'],
    ['code 0 with 400', { status: 400, json: { code: 0 } }, 'refused', 'http_400'],
    ['code 0 with 500', { status: 500, json: { code: 0 } }, 'retry', 'http_500'],
    ['401 without a code', { status: 401 }, 'credentials', 'http_401'],
    ...PLAIN_ROWS,
  ]
  describeOutcomes(tiktok, context, rows)

  it('of a batch is one outcome for all, and after a refusal the halves are tried', () => {
    const jobs = [adJob(destination), adJob(destination)]
    const outcomes = (json: unknown) => tiktok.batch?.outcomes(replyOf({ json }), jobs, context)
    expect(outcomes({ code: 0 })).to.deep.equal(jobs.map(() => ({ kind: 'delivered', code: '0' })))
    expect(outcomes({ code: 20_001 })).to.have.lengthOf(2)
    expect(outcomes({ code: 40_002 })).to.equal('split')
  })
})

describe('a worker for TikTok', () => {
  let standIn: StandInServer
  let stage: AdStage
  let clock: TestClock

  async function set(guard: { perMinute?: number } = {}): Promise<void> {
    clock = new TestClock()
    standIn = await startTiktokStandIn({
      port: 0,
      nowMs: clock.nowMs,
      guard: { isToken: (token) => token === TOKEN, ...guard },
    })
    const secrets = { accessToken: TOKEN }
    stage = await AdStage.set({ provider: tiktok, destination, secrets, baseUrl: standIn.url, clock })
  }
  afterEach(async () => {
    await stage.strike()
    await standIn.close()
  })

  it('delivers, and keeps no identifier and no token of what it sent', async () => {
    await set()
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'delivered', detail: 'ttclid and ttp' })
    expect(JSON.stringify(record)).not.to.contain('canary')
    expect(standIn.requests()[0]).to.deep.include({ key: 'C4PIXELCODE', messages: [], hasToken: true })
  })

  it('sees a wrong token inside a 200, and pauses the destination', async () => {
    await set()
    stage.setup.secrets = { accessToken: 'wrong' }
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'retrying', reason: 'credentials_refused' })
    expect(record?.attempt).to.include({ responseStatus: 200, code: '40105' })
    expect(await stage.activityTypes()).to.deep.equal(['destination_paused'])
  })

  it('waits if TikTok throttles inside a 200, and delivers then', async () => {
    await set({ perMinute: 0 })
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'retrying', reason: 'throttled' })
    standIn.fail('*', { kind: 'status', status: 200, body: '{"code":0}' })
    clock.advance(5_001)
    await until(async () => (await stage.records()).at(-1)?.status === 'delivered')
  })

  it('gives up what TikTok refuses inside a 200', async () => {
    await set()
    standIn.fail('*', { kind: 'status', status: 200, body: '{"code":40002,"message":"ttclid E.C.P.canary-ttclid"}' })
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'failed', reason: 'refused' })
    expect(record?.attempt?.code).to.equal('40002')
    expect(JSON.stringify(record)).not.to.contain(IDENTITIES.tiktok.ttclid)
  })

  it('in mode Validate sends a test event if there is a code for it', async () => {
    await set()
    const settings = { ...destination.settings, testEventCode: 'TEST1' }
    stage.setup.destination = { ...destination, mode: 'Validate', settings }
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'delivered' })
    expect(record?.detail).to.match(/^sent as a test event/)
    expect((standIn.requests()[0]?.body as any).test_event_code).to.equal('TEST1')
  })
})
