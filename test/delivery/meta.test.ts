/** Meta: the golden request, what Meta's answers mean, and deliveries through a worker to its stand-in. */

import { expect } from 'chai'

import { replayDeadLetters } from '../../delivery/tools/replay.ts'
import { meta } from '../../delivery/providers/meta.ts'
import { checkMetaRequest, startMetaStandIn } from '../../stand-ins/meta.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { AD_DESTINATIONS, adJob, CLICKED_AT_MS, IDENTITIES } from '../../fixtures/delivery/ad-install.ts'
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
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS, WEBSITE } from '../../fixtures/delivery/builders.ts'
import { TestClock, until } from '../../fixtures/delivery/harness.ts'

const TOKEN = 'EAAcanary+token/meta='
const destination = AD_DESTINATIONS.meta
const context = contextOf(destination, { accessToken: TOKEN })
const userOf = (identities: (typeof IDENTITIES)['meta'] | object, visit = {}) =>
  bodyOf(built(meta, adJob(destination, { identities: { meta: identities }, visit }), context)).data[0].user_data

describe('the Meta request', () => {
  it('of an install two hours after the visit', () => {
    const request = built(meta, adJob(destination), context)
    expect({ ...request, body: bodyOf(request) }).to.deep.equal({
      method: 'POST',
      path: '/v26.0/123456789012345/events',
      query: {},
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: {
        data: [
          {
            event_name: 'CLIInstall',
            event_time: NOON_MS / 1_000,
            event_id: adJob(destination).jobId,
            action_source: 'system_generated',
            user_data: { fbc: IDENTITIES.meta.fbc, fbp: IDENTITIES.meta.fbp },
            data_processing_options: [],
          },
        ],
      },
      sessionMode: 'original_session_window',
      detail: 'fbc of the cookie and fbp',
      secrets: [TOKEN, IDENTITIES.meta.fbc, IDENTITIES.meta.fbp, 'canary-fbclid'],
    })
  })

  it('prefers the cookie to the click ID, and builds from the click ID if there is none', () => {
    const { fbclid } = IDENTITIES.meta
    expect(userOf({ fbc: 'fb.2.1795168600000.IwAR_x-1.AQ', fbclid })).to.deep.equal({
      fbc: 'fb.2.1795168600000.IwAR_x-1.AQ',
    })
    const landedAtMs = NOON_MS - 2 * HOUR_MS - MINUTE_MS
    expect(userOf({ fbclid })).to.deep.equal({ fbc: `fb.1.${landedAtMs}.canary-fbclid` })
    expect(userOf({ fbclid }, { landedAtMs: null }).fbc).to.equal(`fb.1.${NOON_MS - 2 * HOUR_MS}.canary-fbclid`)
  })

  it('builds from the click ID by the time of the visit if the clock of the browser was ahead', () => {
    const visit = { landedAtMs: CLICKED_AT_MS + 365 * DAY_MS }
    const { issuedAtMs } = adJob(destination, { visit }).visit
    for (const fbc of [undefined, `fb.1.${visit.landedAtMs}.ahead`])
      expect(userOf({ fbclid: 'IwAR_x-1', ...(fbc === undefined ? {} : { fbc }) }, visit)).to.deep.equal({
        fbc: `fb.1.${issuedAtMs}.IwAR_x-1`,
      })
  })

  it('leaves out what would get a whole batch refused: malformed cookies and clicks older than 90 days', () => {
    const { fbp, fbclid } = IDENTITIES.meta
    expect(userOf({ fbp, fbc: 'fb.1.x.y' })).to.deep.equal({ fbp })
    for (const fbclid of ['.', '..x', '']) expect(userOf({ fbp, fbclid })).to.deep.equal({ fbp })
    expect(userOf({ fbc: 'nonsense', fbclid }).fbc).to.contain('.canary-fbclid')
    expect(userOf({ fbp, fbc: `fb.1.${SOON_MS - 90 * DAY_MS}.old` })).to.deep.equal({ fbp })
    expect(userOf({ fbp, fbc: `fb.1.${SOON_MS - 90 * DAY_MS + 1}.old` })).to.have.property('fbc')
    expect(userOf({ fbp, fbc: `fb.1.${SOON_MS + MINUTE_MS}.ahead` })).to.have.property('fbc')
    expect(userOf({ fbp, fbc: `fb.1.${SOON_MS + MINUTE_MS + 1}.future` })).to.deep.equal({ fbp })
  })

  for (const identities of [{}, { fbp: 'x' }, { fbc: 'x', fbclid: 'with space' }]) {
    it(`is not made if nothing is left of ${JSON.stringify(identities)}`, () => {
      const job = adJob(destination, { identities: { meta: identities } })
      expect(meta.request(job, context, SOON_MS)).to.deep.equal({ kind: 'skip', reason: 'no_identifier' })
    })
  }

  it('takes its event name from the settings, and CLIInstall without one', () => {
    const named = (settings: object) =>
      bodyOf(built(meta, adJob(destination), { ...context, settings: settings as never }))
    expect(named({ pixelId: '1', eventName: 'AppSetup' }).data[0].event_name).to.equal('AppSetup')
    expect(named({ pixelId: '1' }).data[0].event_name).to.equal('CLIInstall')
  })

  it('asks for limited data use with all three fields if the destination is set so', () => {
    const settings = { ...destination.settings, limitedDataUse: true }
    const request = built(meta, adJob(destination), { ...context, settings })
    expect(bodyOf(request).data[0]).to.deep.include({
      data_processing_options: ['LDU'],
      data_processing_options_country: 1,
      data_processing_options_state: 1_000,
    })
    expect(checkMetaRequest(request.body, SOON_MS)).to.deep.equal([])
  })

  it('in mode Validate is sent only with a test event code, and says that Meta counts it', () => {
    const validate = { ...context, isValidateOnly: true }
    const settings = { ...destination.settings, testEventCode: 'TEST12345' }
    const request = built(meta, adJob(destination), { ...validate, settings })
    expect(bodyOf(request).test_event_code).to.equal('TEST12345')
    expect(request.validation).to.contain('also counts')
    expect(request).not.to.have.property('checkedHere')
    expect(built(meta, adJob(destination), validate).checkedHere).to.deep.equal([])
    expect(bodyOf(built(meta, adJob(destination), { ...context, settings }))).not.to.have.property('test_event_code')
  })

  describeAdProvider({
    provider: meta,
    destination,
    context,
    check: checkMetaRequest,
    idsIn: (body) => body.data.map((event: { event_id: string }) => event.event_id),
  })
})

describe("the meaning of Meta's answers", () => {
  const error = (code: number, more: object = {}) => ({ error: { code, message: 'fb.1.2.canary', ...more } })
  const rows: readonly OutcomeRow[] = [
    ['one event received', { json: { events_received: 1, messages: [] } }, 'delivered', 'received'],
    ['no event received', { json: { events_received: 0 } }, 'refused', 'events_received 0'],
    ['an old event', { status: 400, json: error(100, { error_subcode: 2_804_003 }) }, 'refused', '100/2804003'],
    ['a malformed fbc', { status: 400, json: error(100, { error_subcode: 2_804_001 }) }, 'refused', '100/2804001'],
    ['a missing pixel', { status: 400, json: error(100, { error_subcode: 33 }) }, 'credentials', '100/33'],
    ['a bad token', { status: 400, json: error(190, { error_subcode: 460 }) }, 'credentials', '190/460'],
    ['a missing permission', { status: 403, json: error(200) }, 'credentials', '200'],
    ['another missing permission', { status: 400, json: error(294) }, 'credentials', '294'],
    ['an app limit', { status: 400, json: error(4, { is_transient: true }) }, 'throttled', '4'],
    ['a business limit', { status: 400, json: error(80_004) }, 'throttled', '80004'],
    ['what Meta calls passing', { status: 400, json: error(99, { is_transient: true }) }, 'retry', '99'],
    ['an unknown fault', { status: 500, json: error(1) }, 'retry', '1'],
    ['an error inside 200', { json: error(2) }, 'retry', '2'],
    ['a code without a meaning', { status: 400, json: error(12_345) }, 'refused', '12345'],
    ['a 400 that is not JSON', { status: 400, body: '<html>' }, 'retry', 'http_400 unreadable'],
    ...PLAIN_ROWS,
  ]
  describeOutcomes(meta, context, rows)

  it('of a batch is one outcome for all, and after a refusal the halves are tried', () => {
    const jobs = [adJob(destination), adJob(destination)]
    const outcomes = (reply: Parameters<typeof replyOf>[0]) => meta.batch?.outcomes(replyOf(reply), jobs, context)
    const received = { kind: 'delivered', code: 'received' }
    expect(outcomes({ json: { events_received: 2 } })).to.deep.equal([received, received])
    const some = { kind: 'delivered', code: 'received 1 of 2' }
    expect(outcomes({ json: { events_received: 1 } })).to.deep.equal([some, some])
    expect(outcomes({ status: 400, json: error(100) })).to.equal('split')
    expect(outcomes({ status: 500 })).to.have.lengthOf(2)
  })
})

describe('a worker for Meta', () => {
  let standIn: StandInServer
  let stage: AdStage
  let clock: TestClock

  beforeEach(async () => {
    clock = new TestClock()
    standIn = await startMetaStandIn({ port: 0, nowMs: clock.nowMs, guard: { isToken: (token) => token === TOKEN } })
    const secrets = { accessToken: TOKEN }
    stage = await AdStage.set({ provider: meta, destination, secrets, baseUrl: standIn.url, clock })
  })
  afterEach(async () => {
    await stage.strike()
    await standIn.close()
  })

  it('delivers, and keeps no identifier and no token of what it sent', async () => {
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'delivered', detail: 'fbc of the cookie and fbp' })
    expect(record?.attempt).to.include({ outcome: 'delivered', code: 'received', responseStatus: 200 })
    expect(JSON.stringify(record)).not.to.contain('canary').and.not.to.contain(TOKEN)
    expect(standIn.requests()[0]).to.deep.include({ key: '123456789012345', messages: [], hasToken: true })
  })

  it('pauses the destination at a wrong token, and delivers with the right one', async () => {
    stage.setup.secrets = { accessToken: 'wrong' }
    await stage.enqueue(adJob(destination))
    const [paused] = await stage.recorded(1)
    expect(paused).to.include({ status: 'retrying', reason: 'credentials_refused' })
    expect(await stage.activityTypes()).to.deep.equal(['destination_paused'])
    stage.setup.secrets = { accessToken: TOKEN }
    clock.advance(5_001)
    const records = await stage.recorded(2)
    expect(records.at(-1)).to.include({ status: 'delivered' })
  })

  it('gives up what Meta refuses, with its code and none of its words', async () => {
    const body = JSON.stringify({ error: { code: 100, error_subcode: 2_804_001, message: IDENTITIES.meta.fbc } })
    standIn.fail('*', { kind: 'status', status: 400, body })
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'failed', reason: 'refused' })
    expect(record?.attempt?.code).to.equal('100/2804001')
    expect(JSON.stringify(record)).not.to.contain('canary')
  })

  it('in mode Validate without a test event code checks here and sends nothing', async () => {
    stage.setup.destination = { ...destination, mode: 'Validate' }
    await stage.enqueue(adJob(destination))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'delivered' })
    expect(record?.detail).to.match(/^checked here only, nothing is reported/)
    expect(record?.attempt).to.include({ code: 'checked_here', responseStatus: 0 })
    expect(record?.attempt?.requestBody).to.contain('"CLIInstall"')
    expect(standIn.total()).to.equal(0)
  })

  it('does not send again what Meta may have, if it was held until Meta would no longer recognise it', async () => {
    standIn.fail('*', { kind: 'reset' })
    await stage.enqueue(adJob(destination))
    await stage.recorded(1)
    standIn.fail('*', null)
    stage.setup.destination = { ...destination, mode: 'Paused' }
    clock.advance(5_001)
    expect((await stage.recorded(2))[1]).to.include({ status: 'retrying', reason: 'destination_on_hold' })
    const sent = standIn.total()
    clock.advance(48 * HOUR_MS)
    stage.setup.destination = destination
    const records = await stage.recorded(3)
    expect(records[2]).to.include({ status: 'failed', reason: 'unclear_too_long' })
    expect(standIn.total()).to.equal(sent)
    const [letter] = await stage.deadLetters()
    expect(letter).to.include({ reason: 'unclear_too_long' })

    const row = {
      organization: 'acme',
      website: WEBSITE,
      event_id: records[2]!.eventId,
      destination: destination.id,
      status: 'failed',
    }
    const facts = { run: async () => [{ ...row, install_received_at_ms: 0 }] } as never
    const replay = async (mayCountTwice: boolean) => {
      const refusals: unknown[] = []
      const deps = { eventLog: stage.eventLog, facts, nowMs: clock.nowMs, mayCountTwice }
      await replayDeadLetters(deps, {}, ({ refusal }) => refusals.push(refusal))
      return refusals
    }
    expect(await replay(false)).to.deep.equal(['may_count_twice'])
    expect(await replay(true)).to.deep.equal([null])
    await until(async () => (await stage.records()).at(-1)?.status === 'delivered')
    expect(standIn.total()).to.equal(sent + 1)
  })

  it('comes back after an outage', async () => {
    standIn.fail('*', { kind: 'reset' })
    await stage.enqueue(adJob(destination))
    await stage.recorded(1)
    standIn.fail('*', null)
    clock.advance(5_001)
    await until(async () => (await stage.records()).at(-1)?.status === 'delivered')
    const ids = standIn.requests().map(({ body }) => (body as any).data[0].event_id)
    expect(new Set(ids)).to.have.lengthOf(1)
    expect(CLICKED_AT_MS).to.be.lessThan(NOON_MS)
  })
})
