/** The stand-ins: each of their rules really refuses what it should, and they fail in every way that is set. */

import { expect } from 'chai'

import { checkGoogleAdsRequest, startGoogleAdsStandIn } from '../../stand-ins/google-ads.ts'
import { checkMetaRequest, startMetaStandIn } from '../../stand-ins/meta.ts'
import { checkTiktokRequest, startTiktokStandIn } from '../../stand-ins/tiktok.ts'
import { checkXRequest, startXStandIn } from '../../stand-ins/x.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { DAY_MS, NOON_MS } from '../../fixtures/delivery/builders.ts'

const NOON_S = NOON_MS / 1_000

const META = {
  event_name: 'CLIInstall',
  event_time: NOON_S,
  event_id: 'e1',
  action_source: 'system_generated',
  user_data: { fbp: 'fb.1.1790000000000.5' },
}
const TIKTOK = { event: 'Download', event_time: NOON_S, event_id: 'e1', user: { ttclid: 'a' } }
const X = { conversion_time: '2026-11-20T12:00:00.000Z', event_id: 'o87ne', identifiers: [{ twclid: 'a' }] }
const GOOGLE = { eventTimestamp: '2026-11-20T12:00:00Z', eventSource: 'WEB', adIdentifiers: { gclid: 'a' } }
const GOOGLE_TARGET = { operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1' }, productDestinationId: '2' }

const checks = {
  meta: (change: object) => checkMetaRequest(JSON.stringify({ data: [META, { ...META, ...change }] }), NOON_MS),
  tiktok: (change: object) =>
    checkTiktokRequest(
      JSON.stringify({ event_source: 'web', event_source_id: 'C', data: [TIKTOK, { ...TIKTOK, ...change }] }),
      NOON_MS,
    ),
  x: (change: object) => checkXRequest(JSON.stringify({ conversions: [X, { ...X, ...change }] }), NOON_MS),
  google: (change: object) =>
    checkGoogleAdsRequest(
      JSON.stringify({ destinations: [GOOGLE_TARGET], events: [GOOGLE, { ...GOOGLE, ...change }] }),
      NOON_MS,
    ),
}

const BAD: { readonly [P in keyof typeof checks]: readonly [string, object][] } = {
  meta: [
    ['no name', { event_name: undefined }],
    ['milliseconds', { event_time: NOON_MS }],
    ['a time as text', { event_time: String(NOON_S) }],
    ['eight days', { event_time: NOON_S - 8 * 86_400 }],
    ['no action source', { action_source: undefined }],
    ['an unknown action source', { action_source: 'cli' }],
    ['a website event without its address', { action_source: 'website' }],
    ['no user data', { user_data: undefined }],
    ['empty user data', { user_data: {} }],
    ['an unknown user field', { user_data: { gclid: 'a' } }],
    ['a malformed fbc', { user_data: { fbc: 'fb.1.abc' } }],
    ['an fbc of 91 days', { user_data: { fbc: `fb.1.${NOON_MS - 91 * DAY_MS}.a` } }],
    ['an fbc of tomorrow', { user_data: { fbc: `fb.1.${NOON_MS + DAY_MS}.a` } }],
    ['a malformed fbp', { user_data: { fbp: 'x' } }],
    ['an unknown field', { session_id: '1' }],
    ['a limit without a place', { data_processing_options: ['LDU'] }],
    ['an unknown limit', { data_processing_options: ['XYZ'] }],
  ],
  tiktok: [
    ['no event', { event: '' }],
    ['an ID that is a number', { event_id: 5 }],
    ['milliseconds', { event_time: NOON_MS }],
    ['a minute above seven days', { event_time: NOON_S - 7 * 86_400 - 60 }],
    ['no user', { user: undefined }],
    ['an empty user', { user: {} }],
    ['an empty identifier', { user: { ttp: '' } }],
    ['an unknown user field', { user: { fbp: 'a' } }],
    ['a limit as text', { limited_data_use: 'true' }],
    ['an empty page', { page: { url: '' } }],
    ['an unknown field', { custom: 1 }],
  ],
  x: [
    ['no milliseconds', { conversion_time: '2026-11-20T12:00:00Z' }],
    ['no zone', { conversion_time: '2026-11-20T12:00:00.000' }],
    ['the future', { conversion_time: '2026-11-20T13:00:00.000Z' }],
    ['a unique ID as event', { event_id: '0123-4567' }],
    ['no identifier', { identifiers: [] }],
    ['an empty identifier', { identifiers: [{ twclid: '' }] }],
    ['an unknown identifier', { identifiers: [{ gclid: 'a' }] }],
    ['a lone address', { identifiers: [{ ip_address: '203.0.113.7' }] }],
    ['an address that is not hashed', { identifiers: [{ hashed_email: 'a@b.c' }] }],
    ['no items', { number_items: 0 }],
    ['an unknown field', { custom: 1 }],
  ],
  google: [
    ['no time', { eventTimestamp: undefined }],
    ['a time of the older upload', { eventTimestamp: '2026-11-20 12:00:00+00:00' }],
    ['the future', { eventTimestamp: '2026-11-20T13:00:00Z' }],
    ['no source', { eventSource: undefined }],
    ['an unknown source', { eventSource: 'CLI' }],
    ['no identifier', { adIdentifiers: {} }],
    ['two click IDs', { adIdentifiers: { gclid: 'a', wbraid: 'b' } }],
    ['an empty click ID', { adIdentifiers: { gclid: '' } }],
    ['session attributes that are no base64', { adIdentifiers: { gclid: 'a', sessionAttributes: '{}' } }],
    ['a consent in the words of GA4', { consent: { adUserData: 'GRANTED' } }],
    ['an unknown field', { orderId: 'a' }],
  ],
}

describe('the rules of the stand-ins', () => {
  for (const [provider, rows] of Object.entries(BAD) as [keyof typeof checks, readonly [string, object][]][]) {
    it(`of ${provider} accept what is right`, () => {
      expect(checks[provider]({})).to.deep.equal([])
    })

    for (const [name, change] of rows) {
      it(`of ${provider} refuse ${name}`, () => {
        expect(checks[provider](change)).not.to.deep.equal([])
      })
    }
  }

  it('of Google refuse a resource name and hyphens in numbers', () => {
    const check = (target: object) =>
      checkGoogleAdsRequest(
        JSON.stringify({ destinations: [{ ...GOOGLE_TARGET, ...target }], events: [GOOGLE] }),
        NOON_MS,
      )
    expect(check({})).to.deep.equal([])
    expect(check({ productDestinationId: 'customers/1/conversionActions/2' })).to.have.lengthOf(1)
    expect(check({ operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '123-456-7890' } })).to.have.lengthOf(1)
  })

  for (const [provider, check] of Object.entries({
    checkMetaRequest,
    checkTiktokRequest,
    checkXRequest,
    checkGoogleAdsRequest,
  })) {
    it(`refuse what is not a request at all: ${provider}`, () => {
      for (const body of ['', '[]', '{', 'null', '{}']) expect(check(body, NOON_MS)).not.to.deep.equal([])
    })
  }
})

describe('a stand-in', () => {
  let standIn: StandInServer | null = null
  afterEach(async () => standIn?.close())

  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<any> {
    const answer = await fetch(`${standIn?.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
    return { status: answer.status, ...((await answer.json()) as object) }
  }
  const path = '/v26.0/123/events'
  const auth = { authorization: 'Bearer t' }
  const nowMs = () => NOON_MS

  it('of Meta refuses a whole batch for one stale event, and names it by its codes', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs })
    const stale = { ...META, event_time: NOON_S - 8 * 86_400 }
    const refused = await post(path, { data: [META, stale, META] }, auth)
    expect(refused).to.include({ status: 400 })
    expect(refused.error).to.include({ code: 100, error_subcode: 2_804_003 })
    expect(await post(path, { data: [META, META] }, auth)).to.include({ status: 200, events_received: 2 })
  })

  it('of Meta knows the versions of the Graph API that are in force, and refuses older and newer ones', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs })
    const codes: unknown[] = []
    for (const version of ['v20.0', 'v21.0', 'v26.0', 'v27.0']) {
      const { status, error } = await post(`/${version}/123/events`, { data: [META] }, auth)
      codes.push([status, error?.code])
    }
    expect(codes).to.deep.equal([
      [400, 2_635],
      [200, undefined],
      [200, undefined],
      [400, 2_500],
    ])
  })

  it('of Meta requires a token and throttles beyond its limit', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs, guard: { perMinute: 1 } })
    expect((await post(path, { data: [META] })).error.code).to.equal(190)
    expect((await post(path, { data: [META] }, auth)).events_received).to.equal(1)
    expect((await post(path, { data: [META] }, auth)).error).to.include({ code: 80_004, is_transient: true })
  })

  it('of all four refuse a good token that has no access to a pixel or account, each in its own words', async () => {
    const options = { port: 0, guard: { isOpen: () => false } }
    const bodies = {
      meta: await startMetaStandIn(options).then((sim) => answerOf(sim, '/v26.0/1/events', { data: [META] })),
      google: await startGoogleAdsStandIn(options).then((sim) => answerOf(sim, '/v1/events:ingest', {})),
      tiktok: await startTiktokStandIn(options).then((sim) => answerOf(sim, '/open_api/v1.3/event/track/', {})),
      x: await startXStandIn(options).then((sim) => answerOf(sim, '/12/measurement/conversions/o8z6j', {})),
    }
    expect(bodies.meta['error']).to.include({ code: 100, error_subcode: 33 })
    expect(bodies.google['error']).to.include({ code: 403, status: 'PERMISSION_DENIED' })
    expect(bodies.tiktok['code']).to.equal(40_001)
    expect(bodies.x['errors'][0].code).to.equal('NOT_FOUND')
  })

  it('of TikTok answers 200 to everything it refuses', async () => {
    standIn = await startTiktokStandIn({ port: 0, nowMs })
    const track = '/open_api/v1.3/event/track/'
    const body = { event_source: 'web', event_source_id: 'C', data: [TIKTOK] }
    expect(await post(track, body)).to.include({ status: 200, code: 40_105 })
    expect(await post(track, { ...body, data: [] }, { 'access-token': 't' })).to.include({ status: 200, code: 40_002 })
    expect(await post(track, body, { 'access-token': 't' })).to.include({ status: 200, code: 0 })
  })

  it('of X refuses all for one, and lists what is wrong', async () => {
    standIn = await startXStandIn({ port: 0, nowMs })
    const conversions = [X, { ...X, identifiers: [] }, { ...X, event_id: '!' }]
    const refused = await post('/12/measurement/conversions/o8z6j', { conversions }, { 'x-pixel-token': 't' })
    expect(refused.status).to.equal(400)
    expect(refused.errors).to.have.lengthOf(2)
  })

  it('accepts faults from outside, for one key or for all, and ends them', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs })
    const fault = { kind: 'status', status: 503, body: '{"gone":true}' }
    await post('/faults', { key: '123', fault })
    expect(await post(path, { data: [META] }, auth)).to.deep.equal({ status: 503, gone: true })
    expect((await post('/v26.0/456/events', { data: [META] }, auth)).status).to.equal(200)
    await post('/faults', { key: '123', fault: null })
    expect((await post(path, { data: [META] }, auth)).status).to.equal(200)
    const shown = (await (await fetch(`${standIn.url}/requests`)).json()) as { total: number; requests: any[] }
    expect(shown.total).to.equal(3)
    expect(shown.requests.map(({ answered }) => answered)).to.deep.equal([503, 200, 200])
    expect(JSON.stringify(shown)).not.to.contain('Bearer')
  })

  it('keeps the last requests and counts all', async () => {
    standIn = await startMetaStandIn({ port: 0, nowMs, keep: 2 })
    for (const name of ['a', 'b', 'c']) await post(path, { data: [{ ...META, event_name: name }] }, auth)
    expect(standIn.requests().map(({ body }) => (body as any).data[0].event_name)).to.deep.equal(['b', 'c'])
    expect(standIn.total()).to.equal(3)
  })
})

/** Sends one request with a token in every form, and stops the stand-in. */
async function answerOf(standIn: StandInServer, path: string, body: object): Promise<Record<string, any>> {
  const headers = { authorization: 'Bearer t', 'access-token': 't', 'x-pixel-token': 't' }
  const response = await fetch(standIn.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as Record<string, any>
  await standIn.close()
  return answer
}
