/** The GA4 stand-in refuses what Google's documentation says it refuses, and fails in the way that is set. */

import { expect } from 'chai'

import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { NOON_MS, HOUR_MS } from '../../fixtures/delivery/builders.ts'

const QUERY = 'measurement_id=G-ABC1234567&api_secret=s'
const EVENT = { name: 'install_completed', params: { session_id: '1795168500', engagement_time_msec: 1 } }
const VALID = { client_id: '1234567890.1790000000', timestamp_micros: NOON_MS * 1_000, events: [EVENT] }

describe('the GA4 stand-in', () => {
  let standIn: Ga4StandIn
  before(async () => {
    standIn = await startGa4StandIn({ port: 0, keep: 5, nowMs: () => NOON_MS })
  })
  after(() => standIn.close())

  const post = (path: string, body: unknown, query = QUERY): Promise<Response> =>
    fetch(`${standIn.url}${path}?${query}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  async function codesOf(body: unknown, query = QUERY): Promise<string[]> {
    const answer = (await (await post('/debug/mp/collect', body, query)).json()) as any
    return answer.validationMessages.map((message: any) => `${message.validationCode} ${message.fieldPath}`)
  }

  const withParams = (params: object): object => ({ ...VALID, events: [{ name: 'install_completed', params }] })
  const named = (name: unknown): object => ({ ...VALID, events: [{ name, params: {} }] })
  const many = (count: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index]))

  it('finds nothing wrong in a proper request', async () => {
    expect(await codesOf(VALID)).to.deep.equal([])
    expect(await codesOf(withParams(many(25)))).to.deep.equal([])
    expect(await codesOf(named('a'.repeat(40)))).to.deep.equal([])
    expect(await codesOf(withParams({ text: 'x'.repeat(100), page_location: 'x'.repeat(1_000) }))).to.deep.equal([])
    expect(await codesOf({ ...VALID, timestamp_micros: (NOON_MS - 72 * HOUR_MS) * 1_000 })).to.deep.equal([])
  })

  const REFUSALS: readonly [string, unknown, string][] = [
    ['a body that is no JSON', '{', 'VALUE_INVALID '],
    ['a body that is no object', '[]', 'VALUE_INVALID '],
    ['a field that does not exist', { ...VALID, event: [] }, 'VALUE_INVALID event'],
    ['no client ID', { ...VALID, client_id: undefined }, 'VALUE_REQUIRED client_id'],
    ['a client ID of one number', { ...VALID, client_id: '12345' }, 'VALUE_INVALID client_id'],
    ['a client ID with a zero', { ...VALID, client_id: '0.1' }, 'VALUE_INVALID client_id'],
    ['a cookie instead of a client ID', { ...VALID, client_id: 'GA1.1.12.34' }, 'VALUE_INVALID client_id'],
    ['no events', { ...VALID, events: [] }, 'VALUE_REQUIRED events'],
    ['26 events', { ...VALID, events: Array(26).fill(EVENT) }, 'EXCEEDED_MAX_ENTITIES events'],
    ['26 parameters', withParams(many(26)), 'EXCEEDED_MAX_ENTITIES events[0].params'],
    ['no event name', named(undefined), 'VALUE_REQUIRED events[0]'],
    ['a name of 41 characters', named('a'.repeat(41)), 'NAME_INVALID events[0]'],
    ['a name that begins with a digit', named('1st'), 'NAME_INVALID events[0]'],
    ['a name with a hyphen', named('cli-install'), 'NAME_INVALID events[0]'],
    ['a reserved event name', named('app_install'), 'NAME_RESERVED events[0]'],
    ['a reserved event prefix', named('ga_install'), 'NAME_RESERVED events[0]'],
    [
      'a reserved parameter name',
      withParams({ firebase_conversion: 1 }),
      'NAME_RESERVED events[0].params.firebase_conversion',
    ],
    ['a reserved parameter prefix', withParams({ google_x: 1 }), 'NAME_RESERVED events[0].params.google_x'],
    ['a parameter that begins with an underscore', withParams({ _x: 1 }), 'NAME_RESERVED events[0].params._x'],
    ['a value of 101 characters', withParams({ text: 'x'.repeat(101) }), 'VALUE_OUT_OF_BOUNDS events[0].params.text'],
    ['a value that is an object', withParams({ text: {} }), 'VALUE_INVALID events[0].params.text'],
    ['a value that is null', withParams({ text: null }), 'VALUE_INVALID events[0].params.text'],
    ['a session ID that is no number', withParams({ session_id: 'abc' }), 'VALUE_INVALID events[0].params.session_id'],
    ['no engagement', withParams({ engagement_time_msec: 0 }), 'VALUE_INVALID events[0].params.engagement_time_msec'],
    [
      'a time more than 72 h back',
      { ...VALID, timestamp_micros: (NOON_MS - 72 * HOUR_MS - 1) * 1_000 },
      'VALUE_OUT_OF_BOUNDS timestamp_micros',
    ],
    ['a time in milliseconds', { ...VALID, timestamp_micros: NOON_MS }, 'VALUE_OUT_OF_BOUNDS timestamp_micros'],
    [
      'a time in the future',
      { ...VALID, timestamp_micros: (NOON_MS + 60_000) * 1_000 },
      'VALUE_OUT_OF_BOUNDS timestamp_micros',
    ],
    ['a time that is no number', { ...VALID, timestamp_micros: 'now' }, 'VALUE_INVALID timestamp_micros'],
    [
      'an old time inside an event',
      withParams({ timestamp_micros: 1 }),
      'VALUE_OUT_OF_BOUNDS events[0].params.timestamp_micros',
    ],
    ['a consent that is neither', { ...VALID, consent: { ad_user_data: 'YES' } }, 'VALUE_INVALID consent.ad_user_data'],
    ['a consent for something else', { ...VALID, consent: { analytics: 'DENIED' } }, 'VALUE_INVALID consent.analytics'],
    [
      'a reserved user property',
      { ...VALID, user_properties: { user_id: { value: '1' } } },
      'NAME_RESERVED user_properties.user_id',
    ],
    [
      'a long user property',
      { ...VALID, user_properties: { plan: { value: 'x'.repeat(37) } } },
      'VALUE_OUT_OF_BOUNDS user_properties.plan',
    ],
    ['an unknown strictness', { ...VALID, validation_behavior: 'STRICT' }, 'VALUE_INVALID validation_behavior'],
    ['a body of 130 kB', withParams({ items: ['x'.repeat(130_000)] }), 'VALUE_OUT_OF_BOUNDS '],
  ]
  for (const [name, body, code] of REFUSALS) {
    it(`refuses ${name}`, async () => {
      expect(await codesOf(body)).to.include(code)
    })
  }

  it('refuses a request without measurement ID or secret', async () => {
    expect(await codesOf(VALID, '')).to.deep.equal(['VALUE_REQUIRED measurement_id', 'VALUE_REQUIRED api_secret'])
    expect(await codesOf(VALID, 'measurement_id=UA-1-1&api_secret=s')).to.deep.equal(['VALUE_INVALID measurement_id'])
  })

  it('answers 204 to everything on the live endpoint, and records what was wrong with it', async () => {
    expect((await post('/mp/collect', '{')).status).to.equal(204)
    const last = standIn.requests().at(-1)
    expect(last).to.deep.include({ path: '/mp/collect', body: '{', answered: 204, hasSecret: true })
    expect(last?.messages).to.have.length(1)
  })

  it('shows the last requests as JSON, and keeps no more than its setting', async () => {
    const answer = (await (await fetch(`${standIn.url}/requests`)).json()) as any
    expect(answer.requests).to.have.length(5)
    expect(answer.total).to.equal(standIn.total())
    expect(answer.total).to.be.greaterThan(5)
  })

  it('knows no other path', async () => {
    expect((await post('/g/collect', VALID)).status).to.equal(404)
    expect((await fetch(`${standIn.url}/mp/collect`)).status).to.equal(404)
  })

  it('fails for one measurement ID alone, in the way that was set, until that ends', async () => {
    standIn.fail('G-ABC1234567', { kind: 'status', status: 429, headers: { 'retry-after': '9' } })
    const failed = await post('/mp/collect', VALID)
    expect([failed.status, failed.headers.get('retry-after')]).to.deep.equal([429, '9'])
    expect((await post('/mp/collect', VALID, 'measurement_id=G-OTHER&api_secret=s')).status).to.equal(204)
    standIn.fail('G-ABC1234567', { kind: 'reset' })
    const broken = await post('/mp/collect', VALID).catch((error: Error) => error.name)
    expect(broken).to.equal('TypeError')
    standIn.fail('G-ABC1234567', null)
    expect((await post('/mp/collect', VALID)).status).to.equal(204)
  })

  it('accepts faults from outside as well', async () => {
    const tell = (fault: object | null): Promise<Response> =>
      fetch(`${standIn.url}/faults`, { method: 'POST', body: JSON.stringify({ key: '*', fault }) })
    await tell({ kind: 'status', status: 503 })
    expect((await post('/mp/collect', VALID)).status).to.equal(503)
    await tell(null)
    expect((await post('/mp/collect', VALID)).status).to.equal(204)
  })
})
