/** GA4: golden requests, what Google's answers mean, and properties that hold for any visit. */

import { expect } from 'chai'
import fc from 'fast-check'

import { type Identities } from '../../domain/model.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import type { Job } from '../../domain/records.ts'
import type { DestinationContext, ProviderReply, ProviderRequest } from '../../delivery/providers/provider.ts'
import { ga4 } from '../../delivery/providers/ga4.ts'
import { requestTarget } from '../../delivery/exchange/send.ts'
import { checkGa4Hit } from '../../stand-ins/ga4-rules.ts'
import {
  API_SECRET,
  CLIENT_ID,
  DAY_MS,
  destinationOf,
  HOUR_MS,
  MEASUREMENT_ID,
  MINUTE_MS,
  NOON_MS,
  visitOf,
} from '../../fixtures/delivery/builders.ts'
import { jobOf } from '../../fixtures/delivery/jobs.ts'

const LIVE: DestinationContext = {
  settings: { measurementId: MEASUREMENT_ID },
  secrets: { apiSecret: API_SECRET },
  isValidateOnly: false,
  reconstructionWindowHours: 72,
}
const VALIDATE: DestinationContext = { ...LIVE, isValidateOnly: true }
const SOON_MS = NOON_MS + 250

function built(job: Job, context: DestinationContext = LIVE, nowMs = SOON_MS): ProviderRequest {
  const request = ga4.request(job, context, nowMs)
  if ('kind' in request) throw new Error(`skipped: ${request.reason}`)
  return request
}

function bodyOf(request: ProviderRequest): any {
  return JSON.parse(request.body)
}

describe('the GA4 request', () => {
  it('of an install two hours after the visit carries its client, its session and a moment inside it', () => {
    const request = built(jobOf())
    expect({ ...request, body: bodyOf(request) }).to.deep.equal({
      method: 'POST',
      path: '/mp/collect',
      query: { measurement_id: MEASUREMENT_ID, api_secret: API_SECRET },
      headers: { 'content-type': 'application/json' },
      body: {
        client_id: CLIENT_ID,
        timestamp_micros: 1_795_168_800_000_000,
        events: [
          {
            name: 'install_completed',
            params: {
              session_id: '1795168500',
              engagement_time_msec: 1,
              install_id: jobOf().jobId,
              install_time: '2026-11-20T12:00:00.000Z',
              install_kind: 'install',
              platform: 'linux',
              install_path: 'cli',
            },
          },
        ],
      },
      sessionMode: 'original_session_window',
      detail: 'original session, timestamp inside that session; GA4 can join it to the session',
      secrets: [API_SECRET, CLIENT_ID, '1795168500'],
    })
    expect(requestTarget(request)).to.equal(
      `/mp/collect?measurement_id=${MEASUREMENT_ID}&api_secret=canary%2Bsecret%2Fof%3Dacme`,
    )
  })

  it('in mode Validate goes to the validation server and asks it to be strict', () => {
    const request = built(jobOf(), VALIDATE)
    expect(request.path).to.equal('/debug/mp/collect')
    expect(bodyOf(request).validation_behavior).to.equal('ENFORCE_RECOMMENDATIONS')
    expect(bodyOf(built(jobOf()))).not.to.have.property('validation_behavior')
  })

  it('beyond the reconstruction window carries the client alone and the time of the install', () => {
    const job = jobOf({ visit: visitOf({ issuedAtMs: NOON_MS - 73 * HOUR_MS }) })
    const request = built(job)
    expect(request.sessionMode).to.equal('client_only')
    expect(bodyOf(request).timestamp_micros).to.equal(NOON_MS * 1_000)
    expect(bodyOf(request).events[0].params).not.to.have.property('session_id')
    expect(bodyOf(request).events[0].params.engagement_time_msec).to.equal(1)
  })

  it('of a session that is older than GA4 accepts keeps the session and gives the time of the install', () => {
    const destination = destinationOf({ reconstructionWindowHours: 168 })
    const request = built(jobOf({ destination, visit: visitOf({ issuedAtMs: NOON_MS - 100 * HOUR_MS }) }))
    expect(request.sessionMode).to.equal('original_session_window')
    expect(bodyOf(request).timestamp_micros).to.equal(NOON_MS * 1_000)
    expect(bodyOf(request).events[0].params.session_id).to.match(/^[0-9]+$/)
    expect(request.detail).to.contain('no longer join')
  })

  it('turns to the time of the install one hour before GA4 would silently replace a time', () => {
    const destination = destinationOf({ reconstructionWindowHours: 168 })
    const job = jobOf({ destination, visit: visitOf({ issuedAtMs: NOON_MS - 70 * HOUR_MS }) })
    expect(bodyOf(built(job, LIVE, NOON_MS + HOUR_MS)).timestamp_micros).to.equal((NOON_MS - 70 * HOUR_MS) * 1_000)
    expect(bodyOf(built(job, LIVE, NOON_MS + HOUR_MS + 1)).timestamp_micros).to.equal(NOON_MS * 1_000)
  })

  it('never gives a time behind the install, although a browser clock ahead puts the session there', () => {
    const session_id = String(NOON_MS / 1_000 + 3_600)
    const identities = { ga4: { [MEASUREMENT_ID]: { client_id: CLIENT_ID, session_id } } }
    const request = built(jobOf({ visit: visitOf({ identities }) }))
    expect(request.sessionMode).to.equal('original_session_window')
    expect(bodyOf(request).timestamp_micros).to.equal(NOON_MS * 1_000)
  })

  it('says when GA4 can no longer join the session: a day after it began', () => {
    const startedAtMs = NOON_MS - 2 * HOUR_MS - 5 * MINUTE_MS
    expect(built(jobOf(), LIVE, startedAtMs + DAY_MS).detail).to.contain('GA4 can join it')
    expect(built(jobOf(), LIVE, startedAtMs + DAY_MS + 1).detail).to.contain('no longer join')
  })

  it('without a session of that measurement ID carries the client alone', () => {
    const identities = {
      ga4: { [MEASUREMENT_ID]: { client_id: CLIENT_ID }, 'G-OTHER': { client_id: '9.9', session_id: '99' } },
    }
    const request = built(jobOf({ visit: visitOf({ identities }) }))
    expect(request.sessionMode).to.equal('client_only')
    expect(request.body).not.to.contain('session_id')
    expect(request.body).not.to.contain('9.9')
  })

  it('is not made without a client ID, because an invented one would make a user who never visited', () => {
    const skip = ga4.request(jobOf({ visit: visitOf({ identities: {} }) }), LIVE, SOON_MS)
    expect(skip).to.deep.equal({ kind: 'skip', reason: 'no_client_id' })
  })

  it('denies both uses of data for advertising under GPC, of the visit or of the receipt, and otherwise says nothing', () => {
    const denied = { ad_user_data: 'DENIED', ad_personalization: 'DENIED' }
    expect(bodyOf(built(jobOf({ visit: visitOf({ gpc: true }) }))).consent).to.deep.equal(denied)
    expect(bodyOf(built(jobOf({ install: { gpc: true } }))).consent).to.deep.equal(denied)
    expect(bodyOf(built(jobOf()))).not.to.have.property('consent')
  })

  it('leaves out platform and install path if there are none', () => {
    const params = bodyOf(built(jobOf({ install: { platform: '', installPath: null } }))).events[0].params
    expect(Object.keys(params)).to.deep.equal([
      'session_id',
      'engagement_time_msec',
      'install_id',
      'install_time',
      'install_kind',
    ])
  })

  it('does not send page, referrer and campaign of the visit', () => {
    const request = built(jobOf())
    for (const text of ['acme.dev/install', 'news.example', 'newsletter', 'autumn'])
      expect(request.body).not.to.contain(text)
  })
})

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constant('\ud800'),
  fc.constant('x'.repeat(500)),
)
const anyIdentities: fc.Arbitrary<Identities> = fc.record({
  ga4: fc.constant({
    [MEASUREMENT_ID]: { client_id: CLIENT_ID, session_id: '1795168500' },
    'G-OTHER': { client_id: '31337.31337' },
  }),
  google_ads: fc.constant({
    gclid: 'canary-gclid',
    wbraid: 'canary-wbraid',
    gbraid: 'canary-gbraid',
    gcl_aw: 'canary-aw',
  }),
  meta: fc.constant({ fbp: 'canary-fbp', fbc: 'canary-fbc', fbclid: 'canary-fbclid' }),
  tiktok: fc.constant({ ttp: 'canary-ttp', ttclid: 'canary-ttclid' }),
  x: fc.constant({ twclid: 'canary-twclid' }),
  custom: fc.constant({ crm: { id: 'canary-custom' } }),
})

describe('any GA4 request', () => {
  const anyJob = fc
    .record({
      identities: anyIdentities,
      gpc: fc.boolean(),
      platform: anyText,
      installPath: fc.option(anyText),
      agoMs: fc.integer({ min: 0, max: 30 * DAY_MS }),
      windowHours: fc.integer({ min: 1, max: 168 }),
      lateMs: fc.integer({ min: 0, max: 71 * HOUR_MS - 1 }),
      sessionId: fc.oneof(fc.constant('1795168500'), fc.stringMatching(/^[1-9][0-9]{0,20}$/), anyText),
    })
    .map((any) => {
      const identities = {
        ...any.identities,
        ga4: { ...any.identities.ga4, [MEASUREMENT_ID]: { client_id: CLIENT_ID, session_id: any.sessionId } },
      }
      const visit = visitOf({ issuedAtMs: NOON_MS - any.agoMs, identities, gpc: any.gpc })
      const destination = destinationOf({ reconstructionWindowHours: any.windowHours })
      const install = { platform: any.platform, installPath: any.installPath }
      return { job: jobOf({ visit, destination, install }), gpc: any.gpc, nowMs: NOON_MS + any.lateMs }
    })

  it('keeps every rule that Google documents, up to the deadline', () => {
    fc.assert(
      fc.property(anyJob, fc.boolean(), ({ job, nowMs }, isValidateOnly) => {
        const request = built(job, { ...LIVE, isValidateOnly }, nowMs)
        const query = new URLSearchParams(request.query)
        expect(checkGa4Hit({ query, body: request.body, nowMs })).to.deep.equal([])
      }),
      { numRuns: 1_000 },
    )
  })

  it('holds no identifier of another provider, measurement ID or adapter; under GPC nothing but client and session', () => {
    fc.assert(
      fc.property(anyJob, ({ job, gpc, nowMs }) => {
        const request = built(job, LIVE, nowMs)
        expect(request.body).not.to.contain('canary')
        expect(request.body).not.to.contain('31337')
        expect(Object.keys(bodyOf(request))).to.have.members([
          'client_id',
          'timestamp_micros',
          'events',
          ...(gpc ? ['consent'] : []),
        ])
        expect(JSON.stringify(job)).not.to.contain('canary')
      }),
      { numRuns: 300 },
    )
  })
})

describe("the meaning of GA4's answers", () => {
  const reply = (overrides: Partial<ProviderReply>): ProviderReply => ({
    status: 204,
    headers: {},
    body: '',
    failure: '',
    isUnclear: false,
    ...overrides,
  })
  const outcome = (overrides: Partial<ProviderReply>, context = LIVE) => ga4.outcome(reply(overrides), context)

  const ROWS: readonly [string, Partial<ProviderReply>, string, string][] = [
    ['204', {}, 'delivered', 'accepted'],
    ['200', { status: 200, body: 'anything' }, 'delivered', 'accepted'],
    ['200 whose body never ends', { status: 200, failure: 'timeout', isUnclear: true }, 'delivered', 'accepted'],
    ['no answer', { status: 0, failure: 'timeout', isUnclear: true }, 'retry', 'timeout'],
    ['no connection', { status: 0, failure: 'connection' }, 'retry', 'connection'],
    ['what cannot be sent', { status: 0, failure: 'unsendable' }, 'credentials', 'unsendable'],
    ['500', { status: 500 }, 'retry', 'http_500'],
    ['408', { status: 408 }, 'retry', 'http_408'],
    ['425', { status: 425 }, 'retry', 'http_425'],
    ['503', { status: 503 }, 'retry', 'http_503'],
    ['401', { status: 401 }, 'credentials', 'http_401'],
    ['403', { status: 403 }, 'credentials', 'http_403'],
    ['400', { status: 400 }, 'refused', 'http_400'],
    ['413', { status: 413 }, 'refused', 'http_413'],
    ['a redirect', { status: 302 }, 'refused', 'http_302'],
  ]
  for (const [name, given, kind, code] of ROWS) {
    it(`${name} is ${kind}`, () => {
      expect(outcome(given)).to.deep.equal({ kind, code })
    })
  }

  it('429, and 503 that names a time, are throttled and keep the time', () => {
    const headers = { 'retry-after': '120' }
    expect(outcome({ status: 429, headers })).to.deep.equal({ kind: 'throttled', code: 'http_429', retryAfter: '120' })
    expect(outcome({ status: 429 })).to.deep.equal({ kind: 'throttled', code: 'http_429', retryAfter: null })
    expect(outcome({ status: 503, headers })).to.deep.equal({ kind: 'throttled', code: 'http_503', retryAfter: '120' })
  })

  it('of the validation server depends on its messages, not on its status', () => {
    const verdict = (messages: unknown) =>
      outcome({ status: 200, body: JSON.stringify({ validationMessages: messages }) }, VALIDATE)
    const message = { fieldPath: 'events[0].name', description: 'reserved', validationCode: 'NAME_RESERVED' }
    expect(verdict([])).to.deep.equal({ kind: 'delivered', code: 'validated' })
    expect(verdict([message])).to.deep.equal({ kind: 'refused', code: 'NAME_RESERVED events[0].name' })
    expect(verdict([message, {}, 'x'])).to.deep.equal({
      kind: 'refused',
      code: 'NAME_RESERVED events[0].name and 2 more',
    })
  })

  for (const body of ['', '{', '[]', '{}', '{"validationMessages":{}}', 'null']) {
    it(`of the validation server that cannot be read is tried again: ${JSON.stringify(body)}`, () => {
      expect(outcome({ status: 200, body }, VALIDATE)).to.deep.equal({ kind: 'retry', code: 'unreadable_verdict' })
    })
  }

  it('is always one of the five kinds, whatever comes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.string(), fc.boolean(), (status, body, isValidateOnly) => {
        const { kind } = outcome({ status, body }, { ...LIVE, isValidateOnly })
        expect(['delivered', 'retry', 'throttled', 'credentials', 'refused']).to.contain(kind)
      }),
    )
  })
})

describe('the event names sent to GA4', () => {
  it("are the contract's event types, all of which GA4 takes", () => {
    for (const eventType of ['install_started', 'install_completed', 'first_run'] as const) {
      const request = built(jobOf({ install: { eventType } }))
      expect(bodyOf(request).events[0].name).to.equal(eventType)
      const query = new URLSearchParams(request.query)
      expect(checkGa4Hit({ query, body: request.body, nowMs: SOON_MS })).to.deep.equal([])
    }
    expect(PROVIDER_IDS).to.contain(ga4.id)
  })
})
