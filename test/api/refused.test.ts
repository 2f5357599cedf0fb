/** What happens to refused requests: in whose Logs they are, what is stored of them, and who is notified of a limit. */

import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { expect } from 'chai'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../../fixtures/engines/redis.ts'
import { newId } from '../../fixtures/service/requests.ts'
import {
  eventBody,
  freshAddress,
  logsOf,
  MANIFESTS,
  startApi,
  visitBody,
  type Api,
  type CallOptions,
} from './support/api.ts'
import { exchangeRaw } from './support/raw.ts'

const NAMES = ['beta', 'gamma', 'delta'] as const
const CONFIG = '/v1/projects/acme-dev/browser-config'

/** Organisation `beta` with website `beta-dev` at `https://beta.dev`, and so on; all of them register `https://shared.dev`. */
const OTHERS = NAMES.map(
  (name) => `
apiVersion: whence.dev/v1alpha1
kind: Organization
metadata: { name: ${name} }
spec: { displayName: ${name}, plan: Standard }
---
apiVersion: whence.dev/v1alpha1
kind: Website
metadata: { name: ${name}-dev }
spec:
  organizationRef: { name: ${name} }
  displayName: ${name}.dev
  primaryOrigin: https://${name}.dev
  additionalDomains: ['https://shared.dev']
`,
).join('---')

describe('refused requests', () => {
  let api: Api
  let nowMs = Date.UTC(2040, 10, 21, 12)
  let isRefusing = false
  before(async () => {
    api = await startApi({ nowMs: () => nowMs, manifests: { ...MANIFESTS, 'others.yaml': OTHERS } })
  })
  after(() => api.stop())
  beforeEach(() => {
    nowMs += 600_000
  })

  const ticking = async <T>(work: () => Promise<T>): Promise<T> => {
    const timer = setInterval(() => (nowMs += 10), 10)
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }
  const asAgent = (more: CallOptions = {}): { agent: string; options: CallOptions } => {
    const agent = `agent/${newId()}`
    return { agent, options: { ...more, headers: { 'User-Agent': agent, ...more.headers } } }
  }
  const rowsOf = (agent: string, count = 1) =>
    ticking(() => logsOf(api, ({ user_agent }) => user_agent === agent, count))
  const exhaust = async (address: string): Promise<void> => {
    for (let done = 0; done < 240; done += 40)
      await Promise.all(Array.from({ length: 40 }, () => api.get(CONFIG, { address })))
  }
  describe('are in the Logs of the website that they were meant for', () => {
    const padded = (body: object): string => JSON.stringify({ ...body, x: 'x'.repeat(LIMITS.bodyBytes) })
    const beta = { project: 'beta-dev' }
    const cases: readonly (readonly [string, string, (options: CallOptions) => Promise<unknown>])[] = [
      ['a body that was cut', 'body_too_large', (options) => api.post('/v1/events', padded(eventBody(beta)), options)],
      [
        'a body in a foreign type',
        'unsupported_media_type',
        (options) =>
          api.post('/v1/events', eventBody(beta), {
            ...options,
            headers: { ...options.headers, 'Content-Type': 'text/plain' },
          }),
      ],
      [
        'broken JSON',
        'invalid_json',
        (options) => api.post('/v1/events', '{"event_id":"x", "project" : "beta-dev", ', options),
      ],
      [
        'a wrong method',
        'method_not_allowed',
        (options) => api.post('/v1/events', eventBody(beta), { ...options, method: 'PUT' }),
      ],
      [
        'an event with an Origin of somebody else',
        'native_endpoint',
        (options) => api.post('/v1/events', eventBody(beta), { ...options, origin: 'https://gamma.dev' }),
      ],
      [
        'broken JSON from its page',
        'invalid_json',
        (options) => api.post('/v1/visits', '{', { ...options, origin: 'https://beta.dev' }),
      ],
      [
        'a compressed body from its page',
        'unsupported_encoding',
        (options) =>
          api.post('/v1/visits', visitBody(beta), {
            ...options,
            origin: 'https://BETA.dev:443',
            headers: { ...options.headers, 'Content-Encoding': 'gzip' },
          }),
      ],
      [
        'a body that was cut, from its page',
        'body_too_large',
        (options) =>
          api.post('/v1/visits', 'x'.repeat(LIMITS.bodyBytes + 1), { ...options, origin: 'https://beta.dev' }),
      ],
      [
        'a website that does not exist, from its page',
        'website_not_found',
        (options) =>
          api.post('/v1/visits', visitBody({ project: 'nobody' }), { ...options, origin: 'https://beta.dev' }),
      ],
    ]
    for (const [name, code, ask] of cases) {
      it(name, async () => {
        const { agent, options } = asAgent()
        await ask(options)
        const rows = await rowsOf(agent)
        expect(
          rows.map((row) => ({ code: row.code, website: row.website, organization: row.organization })),
        ).to.deep.equal([{ code, website: 'beta-dev', organization: 'beta' }])
      })
    }

    it('and in those of no website if several websites registered the Origin', async () => {
      const { agent, options } = asAgent({ origin: 'https://shared.dev' })
      await api.post('/v1/visits', '{', options)
      expect((await rowsOf(agent))[0]).to.include({ code: 'invalid_json', website: '', organization: '' })
    })
  })

  it('are recorded even if nothing of them could be read, or if their client left', async () => {
    const agent = `agent/${newId()}`
    const head = (...lines: readonly string[]): string =>
      ['Host: a', `User-Agent: ${agent}`, 'Origin: https://beta.dev', ...lines, '', ''].join('\r\n')
    await exchangeRaw(api.service.port, [
      `POST /v1/visits HTTP/1.1\r\n${head('Content-Type: a/b', 'Content-Type: a/c', 'Content-Length: 0')}`,
    ])
    await exchangeRaw(api.service.port, [`GET /v1/projects/%zz/report.sh HTTP/1.1\r\n${head()}`])
    await exchangeRaw(api.service.port, [
      `GET /v1/visits HTTP/1.1\r\n${head(...Array.from({ length: 62 }, (_, index) => `X-${index}: y`))}`,
    ])
    const socket = connect(api.service.port, '127.0.0.1')
    socket.write(
      `POST /v1/events HTTP/1.1\r\n${head('Content-Type: application/json', 'Content-Length: 99')}{"project":"gamma-dev"`,
    )
    setTimeout(() => socket.destroy(), 100)
    await exchangeRaw(api.service.port, [
      `POST /v1/events HTTP/1.1\r\n${head('Content-Type: application/json', 'Transfer-Encoding: chunked')}`,
      '13\r\n{"project":"gamma-d\r\nnonsense\r\n',
    ])
    const rows = await rowsOf(agent, 5)
    expect(rows.map(({ status, code, website }) => `${status} ${code} ${website}`)).to.have.members([
      '400 invalid_request beta-dev',
      '400 invalid_request beta-dev',
      '431 headers_too_large beta-dev',
      '0 aborted gamma-dev',
      '400 invalid_request beta-dev',
    ])
    expect(rows.find(({ code, path }) => code === 'invalid_request' && path === '/v1/events')).to.include({
      body: '{"project":"gamma-d',
    })
    expect(rows.find(({ code }) => code === 'aborted')).to.include({
      body: '{"project":"gamma-dev"',
      path: '/v1/events',
    })
  })

  describe("that HTTP's own parser refuses are answered, and counted once each", () => {
    const HEAD = 'POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
    const CASES: readonly (readonly [string, string, ErrorCode])[] = [
      ['a request line without a target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n', 'invalid_request'],
      ['no HTTP at all', '\x16\x03\x01\x02\x00', 'invalid_request'],
      ['a header without a name', 'GET /health HTTP/1.1\r\n: x\r\n\r\n', 'invalid_request'],
      ['two lengths', `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 'invalid_request'],
      ['a chunk whose size is no number', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`, 'invalid_request'],
      ['a header block of 20 KB', `GET /health HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'headers_too_large'],
    ]
    const counts = async (): Promise<ReadonlyMap<string, number>> => {
      const text = await (await fetch(api.service.metricsUrl)).text()
      const lines = text.matchAll(/^whence_requests_total\{route="",status="\d+",code="(\w+)"[^}]*\} (\d+)$/gm)
      return new Map([...lines].map(([, code = '', count]) => [code, Number(count)]))
    }
    for (const [name, text, code] of CASES) {
      it(name, async () => {
        const before = await counts()
        const { answers, isClosed } = await exchangeRaw(api.service.port, [text])
        expect(answers.map(({ status, body }) => [status, body])).to.deep.equal([
          [ERRORS[code].status, JSON.stringify({ error: code })],
        ])
        expect(isClosed).to.equal(true)
        const after = await counts()
        expect((after.get(code) ?? 0) - (before.get(code) ?? 0)).to.equal(1)
        const sum = (all: ReadonlyMap<string, number>): number => [...all.values()].reduce((a, b) => a + b, 0)
        expect(sum(after) - sum(before)).to.equal(1)
      })
    }
  })

  it('keep the bodies of the first 20 in a minute of an address, then length and digest', async () => {
    const address = freshAddress()
    const { agent, options } = asAgent({ address })
    await exhaust(address)
    const bodies = Array.from({ length: 30 }, (_, index) =>
      JSON.stringify(eventBody({ project: 'beta-dev', x: `${index}`.repeat(2_000) })),
    )
    for (const body of bodies) expect((await api.post('/v1/events', body, options)).status).to.equal(429)
    const rows = await rowsOf(agent, 30)
    expect(rows.every(({ organization }) => organization === 'beta')).to.equal(true)
    expect(rows.filter(({ body_form }) => body_form === 'text').map(({ body }) => body)).to.have.members(
      bodies.slice(0, 20),
    )
    const later = rows.filter(({ body_form }) => body_form === 'digest')
    const digests = bodies.slice(20).map((body) => `sha256:${createHash('sha256').update(body).digest('hex')}`)
    expect(later.map(({ body }) => body)).to.have.members(digests)
    expect(later.map(({ body_bytes }) => body_bytes)).to.have.members(bodies.slice(20).map((body) => body.length))
    nowMs += 60_000
    await exhaust(address)
    await api.post('/v1/events', bodies[29], options)
    expect((await rowsOf(agent, 31)).filter(({ body_form }) => body_form === 'text').length).to.equal(21)
  })

  describe('with 503', () => {
    let append: Api['service']['eventLog']['append']
    beforeEach(() => {
      const log = api.service.eventLog as { append: typeof append }
      append = log.append
      log.append = (topic, entries, options) =>
        isRefusing && topic !== 'activity'
          ? Promise.reject(new LogUnavailable('told to'))
          : append.call(log, topic, entries, options)
    })
    afterEach(() => {
      isRefusing = false
      ;(api.service.eventLog as { append: typeof append }).append = append
    })

    it('use up no rate window', async () => {
      const address = freshAddress()
      isRefusing = true
      for (let count = 0; count < 7; count++) expect((await api.event({}, { address })).status).to.equal(503)
      isRefusing = false
      const replies = await Promise.all(Array.from({ length: 30 }, () => api.event({}, { address })))
      expect(replies.map(({ status }) => status)).to.deep.equal(replies.map(() => 200))
      expect((await api.event({}, { address })).status).to.equal(429)
      const asked = await Promise.all(Array.from({ length: 240 - 31 }, () => api.get(CONFIG, { address })))
      expect(asked.filter(({ status }) => status !== 200).length).to.be.at.most(0)
    })
  })
})

for (const store of ['LMDB', 'Redis'] as const) {
  describe(`an address over its limit, with ${store}`, () => {
    let redis: RedisServer | null = null
    let api: Api
    before(async function () {
      if (store === 'Redis' && !hasRedisServer()) return this.skip()
      redis = store === 'Redis' ? await startRedis() : null
      const env = redis === null ? {} : { WHENCE_HOT_STATE: redis.url }
      api = await startApi({ env, manifests: { ...MANIFESTS, 'others.yaml': OTHERS } })
    })
    after(async () => {
      await api?.stop()
      await redis?.stop()
    })

    const toldOf = async (organization: string, sinceMs: number): Promise<number> => {
      await api.service.drain('facts-writer')
      const period = { since_ms: sinceMs, until_ms: Date.now() + 60_000, limit: 1_000, organization }
      const rows = await api.service.facts.run('listActivity', period)
      return rows.filter(({ subject, type }) => subject === 'collection' && type === 'rate_limit_reached').length
    }
    const goOver = async (): Promise<void> => {
      const address = freshAddress()
      for (let done = 0; done < 240; done += 40)
        await Promise.all(Array.from({ length: 40 }, () => api.get(CONFIG, { address })))
      await api.post('/v1/visits', 'not json', { address, origin: null })
      for (let again = 0; again < 3; again++) {
        for (const name of NAMES) await api.post('/v1/events', eventBody({ project: `${name}-dev` }), { address })
      }
      await api.get('/v1/projects/acme-dev/report.sh', { address })
      await api.post('/v1/visits', '{', { address, origin: 'https://acme.dev' })
    }

    it('is recorded once a minute for every organisation whose websites it requested', async () => {
      let beganMs: number
      // Redis uses its own clock. A try during which a new minute begins proves nothing.
      do {
        beganMs = Date.now()
        await goOver()
      } while (Math.floor(beganMs / 60_000) !== Math.floor(Date.now() / 60_000))
      for (const organization of [...NAMES, 'acme'])
        expect(await toldOf(organization, beganMs), organization).to.equal(1)
    })
  })
}
