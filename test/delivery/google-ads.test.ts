/** Google Ads: the golden request, what Google's answers and verdicts mean, and deliveries through a worker to its stand-ins. */

import { expect } from 'chai'

import type { Verdict } from '../../delivery/providers/provider.ts'
import { googleAds } from '../../delivery/providers/google-ads.ts'
import { checkGoogleAdsRequest, startGoogleAdsStandIn, type GoogleVerdict } from '../../stand-ins/google-ads.ts'
import { startGoogleOauthStandIn, type GoogleOauthStandIn } from '../../stand-ins/google-oauth.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import type { Identities } from '../../domain/model.ts'
import type { Job } from '../../domain/records.ts'
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
import { DAY_MS, HOUR_MS, MINUTE_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'
import { TestClock, until } from '../../fixtures/delivery/harness.ts'

const SECRETS = {
  clientId: 'canary-client.apps',
  clientSecret: 'canary-client+secret',
  refreshToken: '1//canary+refresh',
}
const destination = AD_DESTINATIONS.google_ads
const context = contextOf(destination, SECRETS)
type Ids = NonNullable<Identities['google_ads']>

function eventOf(identities: Ids): any {
  return bodyOf(built(googleAds, adJob(destination, { identities: { google_ads: identities } }), context)).events[0]
}

describe('the Google Ads request', () => {
  it('of an install two hours after the visit', () => {
    const request = built(googleAds, adJob(destination), context)
    expect({ ...request, body: bodyOf(request) }).to.deep.equal({
      method: 'POST',
      path: '/v1/events:ingest',
      query: {},
      headers: { 'content-type': 'application/json' },
      body: {
        destinations: [
          {
            operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
            productDestinationId: '987654321',
          },
        ],
        events: [
          {
            transactionId: adJob(destination).jobId,
            eventTimestamp: '2026-11-20T12:00:00.000Z',
            eventSource: 'WEB',
            adIdentifiers: { gclid: 'Cj0canary-gclid', sessionAttributes: 'eyJnYWRfc291cmNlIjoiMSJ9' },
          },
        ],
        validateOnly: false,
      },
      sessionMode: 'original_session_window',
      detail: 'gclid and session attributes',
      secrets: ['Cj0canary-gclid', 'eyJnYWRfc291cmNlIjoiMSJ9'],
    })
  })

  it('sends one identifier: gclid before the one of the cookie, before wbraid, before gbraid', () => {
    const { gclid, wbraid, gbraid } = IDENTITIES.google_ads
    const gcl_aw = 'GCL.1795168000.of.the_cookie-1'
    const identifiersOf = (identities: Ids) => eventOf(identities).adIdentifiers
    expect(identifiersOf({ gclid, gcl_aw, wbraid, gbraid })).to.deep.equal({ gclid })
    expect(identifiersOf({ gcl_aw, wbraid, gbraid })).to.deep.equal({ gclid: 'of.the_cookie-1' })
    expect(identifiersOf({ wbraid, gbraid })).to.deep.equal({ wbraid })
    expect(identifiersOf({ gbraid })).to.deep.equal({ gbraid })
    expect(identifiersOf({ gclid: 'mal formed', gbraid })).to.deep.equal({ gbraid })
  })

  it('leaves out session attributes that are not base64, and is not made from them alone', () => {
    expect(eventOf({ gclid: 'a', session_attributes: '{"a":1}' }).adIdentifiers).to.deep.equal({ gclid: 'a' })
    const session_attributes = IDENTITIES.google_ads.session_attributes
    const job = adJob(destination, { identities: { google_ads: { session_attributes } } })
    expect(googleAds.request(job, context, SOON_MS)).to.deep.equal({ kind: 'skip', reason: 'no_identifier' })
  })

  it('is not made for a click older than 90 days', () => {
    const aged = (atS: number) => adJob(destination, { identities: { google_ads: { gcl_aw: `GCL.${atS}.a` } } })
    const oldestS = Math.ceil((SOON_MS - 90 * DAY_MS) / 1_000)
    expect(googleAds.request(aged(oldestS - 1), context, SOON_MS)).to.deep.equal({ kind: 'skip', reason: 'too_old' })
    expect(googleAds.request(aged(oldestS), context, SOON_MS)).to.have.property('body')
  })

  it('states the consent that the destination states, and none if it states none', () => {
    const consentOf = (consent?: string) => {
      const settings = { ...destination.settings, ...(consent === undefined ? {} : { consent }) }
      const request = built(googleAds, adJob(destination), { ...context, settings })
      expect(checkGoogleAdsRequest(request.body, SOON_MS)).to.deep.equal([])
      return bodyOf(request).events[0].consent
    }
    expect(consentOf()).to.equal(undefined)
    expect(consentOf('Unspecified')).to.equal(undefined)
    expect(consentOf('Granted')).to.deep.equal({ adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_GRANTED' })
    expect(consentOf('NotPersonalized')).to.deep.equal({
      adUserData: 'CONSENT_GRANTED',
      adPersonalization: 'CONSENT_DENIED',
    })
  })

  it('names the manager account only if access runs through one', () => {
    const settings = { ...destination.settings, loginCustomerId: '555' }
    const request = built(googleAds, adJob(destination), { ...context, settings })
    expect(bodyOf(request).destinations[0].loginAccount).to.deep.equal({ accountType: 'GOOGLE_ADS', accountId: '555' })
  })

  it('in mode Validate asks to be checked only', () => {
    expect(bodyOf(built(googleAds, adJob(destination), { ...context, isValidateOnly: true })).validateOnly).to.equal(
      true,
    )
  })

  describeAdProvider({
    provider: googleAds,
    destination,
    context,
    check: checkGoogleAdsRequest,
    idsIn: (body) => body.events.map((event: { transactionId: string }) => event.transactionId),
  })
})

describe('a click that is too fresh for Google', () => {
  const notBefore = (identities: Ids, isValidateOnly = false) =>
    googleAds.notBeforeMs?.(adJob(destination, { identities: { google_ads: identities } }), {
      ...context,
      isValidateOnly,
    })

  it('is held until six hours after the moment that the cookie names for it', () => {
    expect(notBefore(IDENTITIES.google_ads)).to.equal(CLICKED_AT_MS + 6 * HOUR_MS)
  })

  it('is held until six hours after the landing if the cookie is missing or holds another click', () => {
    const landedAtMs = NOON_MS - 2 * HOUR_MS - MINUTE_MS
    expect(notBefore({ gclid: 'a' })).to.equal(landedAtMs + 6 * HOUR_MS)
    expect(notBefore({ gclid: 'a', gcl_aw: 'GCL.1700000000.b' })).to.equal(landedAtMs + 6 * HOUR_MS)
    expect(notBefore({ wbraid: 'a' })).to.equal(landedAtMs + 6 * HOUR_MS)
  })

  it('is not held longer by a browser whose clock is ahead', () => {
    const identities = { google_ads: { wbraid: 'a' } }
    const job = adJob(destination, { identities, visit: { landedAtMs: NOON_MS + 365 * 24 * HOUR_MS } })
    expect(googleAds.notBeforeMs?.(job, context)).to.equal(job.visit.issuedAtMs + 6 * HOUR_MS)
  })

  it('is not held longer by a cookie from the future, nor in mode Validate, nor without a click', () => {
    const visitedAtMs = NOON_MS - 2 * HOUR_MS
    expect(notBefore({ gcl_aw: 'GCL.9999999999.a' })).to.equal(visitedAtMs + 6 * HOUR_MS)
    expect(notBefore({ gclid: 'a' }, true)).to.equal(0)
    expect(notBefore({})).to.equal(0)
  })
})

describe("the meaning of Google's answers", () => {
  const error = (status: string, ...reasons: string[]) => ({
    error: { status, message: 'gclid Cj0canary', details: reasons.map((reason) => ({ reason })) },
  })
  const rows: readonly OutcomeRow[] = [
    ['a request ID', { json: { requestId: 'r-1' } }, 'accepted', 'accepted'],
    ['a request ID that could not be asked with', { json: { requestId: 'r 1' } }, 'retry', 'unreadable_answer'],
    ['a bad token', { status: 401, json: error('UNAUTHENTICATED') }, 'credentials', 'UNAUTHENTICATED'],
    ['no permission', { status: 403, json: error('PERMISSION_DENIED', 'X_Y') }, 'credentials', 'PERMISSION_DENIED X_Y'],
    [
      'a wrong action',
      { status: 400, json: error('INVALID_ARGUMENT', 'INVALID_CONVERSION_ACTION_ID') },
      'refused',
      'INVALID_ARGUMENT INVALID_CONVERSION_ACTION_ID',
    ],
    ['a used-up quota', { status: 429, json: error('RESOURCE_EXHAUSTED') }, 'throttled', 'RESOURCE_EXHAUSTED'],
    ['an overloaded service', { status: 503, json: error('UNAVAILABLE') }, 'retry', 'UNAVAILABLE'],
    ['a deadline inside', { status: 504, json: error('DEADLINE_EXCEEDED') }, 'retry', 'DEADLINE_EXCEEDED'],
    ['an abort', { status: 409, json: error('ABORTED') }, 'retry', 'ABORTED'],
    [
      'words where a code belongs',
      { status: 400, json: error('INVALID_ARGUMENT', 'gclid a') },
      'refused',
      'INVALID_ARGUMENT',
    ],
    ...PLAIN_ROWS,
  ]
  describeOutcomes(googleAds, context, rows)

  it('in mode Validate are the verdict itself', () => {
    const validate = { ...context, isValidateOnly: true }
    const valid = googleAds.outcome(replyOf({ json: {} }), validate)
    expect(valid).to.deep.equal({ kind: 'delivered', code: 'validated' })
    const cut = googleAds.outcome(replyOf({ body: '{', failure: 'body_cut' }), validate)
    expect(cut).to.deep.equal({ kind: 'retry', code: 'unreadable_answer' })
  })

  it('of a batch is one outcome for all, and after a refusal the halves are tried', () => {
    const jobs = [adJob(destination), adJob(destination)]
    const outcomes = (reply: Parameters<typeof replyOf>[0]) => googleAds.batch?.outcomes(replyOf(reply), jobs, context)
    const accepted = { kind: 'accepted', code: 'accepted', reference: 'r-1' }
    expect(outcomes({ json: { requestId: 'r-1' } })).to.deep.equal([accepted, accepted])
    expect(outcomes({ status: 400, json: error('INVALID_ARGUMENT') })).to.equal('split')
  })
})

describe("the meaning of Google's later verdict", () => {
  const verdict = (...rows: { requestStatus: string; reasons?: string[] }[]): Verdict | undefined =>
    googleAds.verdict?.outcome(
      replyOf({
        json: {
          requestStatusPerDestination: rows.map(({ requestStatus, reasons = [] }) => ({
            requestStatus,
            errorInfo: {
              errorCounts: reasons.map((reason) => ({ recordCount: '1', reason: `PROCESSING_ERROR_REASON_${reason}` })),
            },
          })),
        },
      }),
    )
  const ROWS: readonly [string, Verdict | undefined, string, string][] = [
    ['success', verdict({ requestStatus: 'SUCCESS' }), 'delivered', 'SUCCESS'],
    ['processing', verdict({ requestStatus: 'PROCESSING' }), 'undecided', 'PROCESSING'],
    ['nothing', verdict(), 'undecided', 'unreadable_answer'],
    ['a new word', verdict({ requestStatus: 'PONDERING' }), 'undecided', 'PONDERING'],
    [
      'some',
      verdict({ requestStatus: 'PARTIAL_SUCCESS', reasons: ['CLICK_NOT_FOUND'] }),
      'delivered',
      'PARTIAL_SUCCESS CLICK_NOT_FOUND',
    ],
    ['a failure', verdict({ requestStatus: 'FAILED', reasons: ['INVALID_GCLID'] }), 'refused', 'FAILED INVALID_GCLID'],
    ['a failure without a reason', verdict({ requestStatus: 'FAILED' }), 'refused', 'FAILED'],
    [
      'a repeat',
      verdict({ requestStatus: 'FAILED', reasons: ['DUPLICATE_TRANSACTION_ID'] }),
      'delivered',
      'FAILED DUPLICATE_TRANSACTION_ID',
    ],
    [
      'a fresh click',
      verdict({ requestStatus: 'FAILED', reasons: ['TOO_RECENT_CLICK'] }),
      'resend',
      'FAILED TOO_RECENT_CLICK',
    ],
    [
      'a fault of Google',
      verdict({ requestStatus: 'FAILED', reasons: ['INTERNAL_ERROR'] }),
      'resend',
      'FAILED INTERNAL_ERROR',
    ],
    [
      'mixed reasons',
      verdict({ requestStatus: 'FAILED', reasons: ['INTERNAL_ERROR', 'NO_CONSENT'] }),
      'refused',
      'FAILED INTERNAL_ERROR NO_CONSENT',
    ],
  ]
  for (const [name, given, kind, code] of ROWS) {
    it(`${name} is ${kind}`, () => expect(given).to.deep.equal({ kind, code }))
  }

  it('is requested again if the request fails, which never ends a delivery', () => {
    const asked = (status: number) => googleAds.verdict?.outcome(replyOf({ status })).kind
    expect([404, 400].map(asked)).to.deep.equal(['undecided', 'undecided'])
    expect([500, 429, 401].map(asked)).to.deep.equal(['retry', 'throttled', 'credentials'])
  })
})

describe('a worker for Google Ads', () => {
  let ads: StandInServer
  let oauth: GoogleOauthStandIn
  let stage: AdStage
  let clock: TestClock
  let verdict: GoogleVerdict = { requestStatus: 'SUCCESS' }

  /** Of a click that is old enough. */
  const job = (number = 1, agoMs = 8 * HOUR_MS): Job => {
    const issuedAtMs = NOON_MS - agoMs
    const identities = { google_ads: { gclid: `canary-gclid-${number}` } }
    const visit = { issuedAtMs, landedAtMs: issuedAtMs }
    return adJob(destination, { identities, visit, install: { eventId: `event-000${number}` } })
  }
  const ingests = () => ads.requests().filter(({ path }) => path === '/v1/events:ingest')
  const ingested = (): number => ingests().reduce((sum, { body }) => sum + (body as any).events.length, 0)

  beforeEach(async () => {
    clock = new TestClock()
    verdict = { requestStatus: 'SUCCESS' }
    const { nowMs } = clock
    oauth = await startGoogleOauthStandIn({
      port: 0,
      nowMs,
      isRefreshToken: (token) => token === SECRETS.refreshToken,
    })
    ads = await startGoogleAdsStandIn({
      port: 0,
      nowMs,
      guard: { isToken: (token) => oauth.isToken(token) },
      judge: () => verdict,
    })
    const urls = { baseUrl: ads.url, tokenUrl: oauth.url }
    stage = await AdStage.set({ provider: googleAds, destination, secrets: SECRETS, ...urls, clock })
  })
  afterEach(async () => {
    await stage.strike()
    await ads.close()
    await oauth.close()
  })

  it('delivers, polls half an hour later, and records the verdict', async () => {
    await stage.enqueue(job())
    const [taken] = await stage.recorded(1)
    expect(taken).to.include({ status: 'retrying', reason: 'awaiting_verdict', detail: 'gclid' })
    expect(taken?.attempt).to.include({ outcome: 'accepted', responseStatus: 200 })
    expect(taken?.nextAttemptAtMs).to.be.within(taken!.atMs + 29 * MINUTE_MS, taken!.atMs + 31 * MINUTE_MS)
    clock.advance(30 * MINUTE_MS + 1_000)
    const records = await stage.recorded(2)
    expect(records[1]).to.include({ status: 'delivered' })
    expect(records[1]?.attempt).to.include({ code: 'SUCCESS', number: 2 })
    expect(ingests()).to.have.lengthOf(1)
    expect(ingests()[0]).to.deep.include({ messages: [], hasToken: true })
    const kept = JSON.stringify(records)
    expect(kept).not.to.contain('canary').and.not.to.contain('ya29')
  })

  it('gives up what Google judges a failure, with its reason', async () => {
    verdict = { requestStatus: 'FAILED', reasons: ['INVALID_GCLID'] }
    await stage.enqueue(job())
    await stage.recorded(1)
    clock.advance(31 * MINUTE_MS)
    const records = await stage.recorded(2)
    expect(records[1]).to.include({ status: 'failed', reason: 'refused' })
    expect(records[1]?.attempt?.code).to.equal('FAILED INVALID_GCLID')
  })

  it('sends once more, under the same ID, what Google found too fresh', async () => {
    verdict = { requestStatus: 'FAILED', reasons: ['TOO_RECENT_CLICK'] }
    await stage.enqueue(job())
    await stage.recorded(1)
    clock.advance(31 * MINUTE_MS)
    expect((await stage.recorded(2))[1]).to.include({ status: 'retrying', reason: 'attempt_failed' })
    verdict = { requestStatus: 'SUCCESS' }
    clock.advance(6 * HOUR_MS + MINUTE_MS)
    await stage.recorded(3)
    clock.advance(31 * MINUTE_MS)
    expect((await stage.recorded(4))[3]).to.include({ status: 'delivered' })
    const ids = ingests().map(({ body }) => (body as any).events[0].transactionId)
    expect(ids).to.deep.equal([job().jobId, job().jobId])
  })

  it('asks again while Google has not judged, and counts it as delivered when three days brought no verdict', async () => {
    verdict = { requestStatus: 'PROCESSING' }
    await stage.enqueue(job())
    await stage.recorded(1)
    for (let asked = 1; (await stage.records()).at(-1)?.status !== 'delivered'; asked += 1) {
      expect(asked).to.be.lessThan(12)
      clock.advance(24 * HOUR_MS)
      await stage.recorded(asked + 1)
    }
    const records = await stage.records()
    expect(records.at(-1)?.attempt?.code).to.equal('PROCESSING')
    expect(records.at(-1)!.atMs - records[0]!.atMs).to.be.at.least(71 * HOUR_MS)
    expect(ingests()).to.have.lengthOf(1)
  })

  it('counts what Google has accepted as delivered if the destination is removed before the verdict', async () => {
    await stage.enqueue(job())
    await stage.recorded(1)
    stage.setup.destination = null
    clock.advance(31 * MINUTE_MS)
    const [, ended] = await stage.recorded(2)
    expect(ended).to.include({ status: 'delivered', reason: '', sessionMode: 'original_session_window', attempts: 1 })
    expect(ended?.detail).to.contain('verdict')
    expect(ads.requests().filter(({ path }) => path !== '/v1/events:ingest')).to.be.empty
  })

  it('holds the question for the verdict while the destination is paused, and counts it as delivered after three days', async () => {
    await stage.enqueue(job())
    await stage.recorded(1)
    stage.setup.destination = { ...destination, mode: 'Paused' }
    clock.advance(31 * MINUTE_MS)
    expect((await stage.recorded(2))[1]).to.include({ status: 'retrying', reason: 'destination_on_hold' })
    clock.advance(71 * HOUR_MS)
    await until(async () => (await stage.inTier('30m')).length > 1)
    expect(await stage.records()).to.have.lengthOf(2)
    clock.advance(HOUR_MS)
    expect((await stage.recorded(3))[2]).to.include({ status: 'delivered', reason: '' })
  })

  it('holds a fresh click until it is six hours old, says so once, and sends it then', async () => {
    await stage.enqueue(job(1, 2 * HOUR_MS))
    const [held] = await stage.recorded(1)
    expect(held).to.include({ status: 'retrying', reason: 'click_too_fresh', nextAttemptAtMs: NOON_MS + 4 * HOUR_MS })
    clock.advance(3 * HOUR_MS)
    await until(async () => (await stage.inTier('30m')).length > 0)
    expect(ingests()).to.have.lengthOf(0)
    clock.advance(HOUR_MS)
    expect((await stage.recorded(2))[1]).to.include({ reason: 'awaiting_verdict', attempts: 1 })
  })

  it('gets one token for many deliveries, and a new one before it ends', async () => {
    await stage.enqueue(...[1, 2, 3, 4].map((number) => job(number)))
    await stage.recorded(4)
    expect(oauth.total()).to.equal(1)
    clock.advance(54 * MINUTE_MS)
    await stage.enqueue(job(5))
    await until(() => ingested() === 5)
    expect(oauth.total()).to.equal(1)
    clock.advance(2 * MINUTE_MS)
    await stage.enqueue(job(6))
    await until(() => ingested() === 6)
    expect(oauth.total()).to.equal(2)
  })

  it('gets a new token at once if one was withdrawn, and makes one attempt of it', async () => {
    await stage.enqueue(job(1))
    await stage.recorded(1)
    oauth.withdraw()
    await stage.enqueue(job(2))
    expect((await stage.recorded(2))[1]).to.include({ reason: 'awaiting_verdict', attempts: 1 })
    expect(oauth.total()).to.equal(2)
    expect(ingests()).to.have.lengthOf(3)
  })

  it('pauses the destination if the refresh token is refused, and says why', async () => {
    stage.setup.secrets = { ...SECRETS, refreshToken: 'revoked' }
    await stage.enqueue(job())
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'retrying', reason: 'credentials_refused' })
    expect(record?.attempt).to.include({ code: 'token: invalid_grant', responseStatus: 0 })
    expect(await stage.activityTypes()).to.deep.equal(['destination_paused'])
    expect(ads.total()).to.equal(0)
  })

  it('retries if the token service is unreachable', async () => {
    oauth.fail('*', { kind: 'status', status: 503 })
    await stage.enqueue(job())
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'retrying', reason: 'attempt_failed' })
    expect(record?.attempt?.code).to.equal('token: http_503')
  })

  it('in mode Validate has it checked by Google and asks for no verdict, however fresh the click is', async () => {
    stage.setup.destination = { ...destination, mode: 'Validate' }
    await stage.enqueue(job(1, HOUR_MS))
    const [record] = await stage.recorded(1)
    expect(record).to.include({ status: 'delivered' })
    expect(record?.detail).to.match(/^validated only/)
    expect((ads.requests()[0]?.body as any).validateOnly).to.equal(true)
  })
})
