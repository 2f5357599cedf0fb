/** What routes can rely on: a query that fits its schema, and answers that are made while they are sent. */

import { cookieRules } from '../../dashboard/http/cookies.ts'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import { expect } from 'chai'
import { Type } from 'typebox'

import { answer, type Handler } from '../../dashboard/http/call.ts'
import { refuseByRate } from '../../dashboard/http/limits.ts'
import type { RouteRow } from '../../dashboard/api/route.ts'
import { createServe } from '../../dashboard/http/serve.ts'
import { ERRORS, refuse, type ErrorCode } from '../../domain/errors.ts'
import { Outage } from '../../common/outage.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import type { Hit } from '../../ports/hot-state/hot-state.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { until } from '../../fixtures/until.ts'

const EVERYONE = { method: 'GET', needs: null, rate: 'read', summary: '', answers: { 200: Type.Object({}) } } as const

class OtherAway extends Outage {}

describe('serving a route of the dashboard', () => {
  let server: Server
  let base = ''
  let ended: string[] = []
  const lines: string[] = []
  const asked = new EventTarget()

  async function* chunks(signal: AbortSignal, fails: boolean): AsyncGenerator<string> {
    try {
      yield 'one\n'
      if (fails) throw new Error('the engine is unavailable')
      yield 'two\n'
      if (signal.aborted) return
      await once(signal, 'abort')
    } finally {
      ended.push('chunks')
    }
  }

  const handlers: readonly (readonly [RouteRow, Handler])[] = [
    [
      {
        ...EVERYONE,
        path: '/api/query',
        query: {
          limit: { type: 'integer', minimum: 1, maximum: 200 },
          all: { type: 'boolean' },
          kind: { type: 'string', enum: ['visit', 'event'] },
        },
      },
      async ({ query }) => answer(query),
    ],
    [
      { ...EVERYONE, path: '/api/stream', query: { fails: { type: 'string', description: 'Whether it fails.' } } },
      async ({ signal, query }) => ({
        kind: 'stream',
        contentType: 'text/event-stream',
        headers: { 'X-Own': 'yes' },
        chunks: chunks(signal, query['fails'] !== undefined),
        onEnd: () => void ended.push('stream'),
      }),
    ],
    [
      { ...EVERYONE, path: '/api/counts' },
      // As a statement that is ended.
      async ({ signal }) => {
        asked.dispatchEvent(new Event('asked'))
        if (!signal.aborted) await once(signal, 'abort')
        ended.push('counts')
        throw signal.reason as Error
      },
    ],
    [
      {
        ...EVERYONE,
        path: '/api/limited',
        refuses: ['sign_in_refused'],
        query: { outcome: { type: 'string', description: 'How it ends.' } },
      },
      async ({ query }) => {
        const limited = await refuseByRate([{ key: 'narrow:acme', limit: 2, windowS: 60 }], windows)
        if (limited !== null) return limited
        const outcome = String(query['outcome'] ?? '')
        if (outcome === 'away') throw new LogUnavailable('the log is away')
        if (outcome === 'other_away') throw new OtherAway('another engine is away')
        if (outcome === 'namesake') throw Object.assign(new Error('a fault'), { name: 'LogUnavailable' })
        if (outcome === 'fault') throw new Error('a fault of ours')
        return outcome in ERRORS ? refuse(outcome as ErrorCode) : answer({ done: true })
      },
    ],
    [
      { ...EVERYONE, path: '/api/late' },
      async ({ signal }) => {
        asked.dispatchEvent(new Event('asked'))
        if (!signal.aborted) await once(signal, 'abort')
        return {
          kind: 'stream',
          contentType: 'text/event-stream',
          chunks: chunks(signal, false),
          onEnd: () => void ended.push('stream'),
        }
      },
    ],
  ]

  /** How often each key of a window was counted and not given back. */
  const counts = new Map<string, number>()
  const add = (hits: readonly Hit[], by: number): void => {
    for (const { key } of hits) counts.set(key, (counts.get(key) ?? 0) + by)
  }
  const windows = {
    countHits: async (hits: readonly Hit[]) => {
      const isFull = hits.some(({ key, limit }) => (counts.get(key) ?? 0) >= limit)
      if (isFull) return { kind: 'exceeded' as const, exceeded: [0], retryAfterS: 1, isFirst: true }
      add(hits, 1)
      return { kind: 'counted' as const, counts: [] }
    },
    returnHits: async (hits: readonly Hit[]) => add(hits, -1),
  }
  const counted: number[] = []
  before(async () => {
    const routes = handlers.map(([row, handle]) => ({ row, handle }))
    const serve = createServe(routes, {
      site: {
        baseUrl: 'http://127.0.0.1',
        cookies: cookieRules('http://127.0.0.1'),
        addressHashOf: () => 'address',
      },
      sessions: { read: async () => null } as never,
      directory: {
        organizations: () => new Map(),
        websites: () => [],
        members: () => [],
        passes: () => ({ apiKeys: new Map(), shareLinks: new Map() }),
        catalogNumber: () => 0,
        rightsAge: () => 'current',
        synced: Promise.resolve(),
      },
      hotState: windows,
      stamps: { nowMs: Date.now, randomness: createRandomness() },
      observer: {
        logger: createLogger({ program: 'test', level: 'debug', write: (line) => void lines.push(line) }),
        answered: ({ status }) => void counted.push(status),
        limitReached: () => undefined,
        sessionSeen: () => undefined,
        onLimit: () => undefined,
      },
    })
    server = createServer((req, res) => void serve(req, res)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(() => {
    ended = []
  })
  after(() => server.close())

  const ask = (path: string): Promise<Response> => fetch(base + path, { headers: { 'Sec-Fetch-Site': 'same-origin' } })

  it('passes typed values of the query, and refuses what its schema does not know', async () => {
    const good = await ask('/api/query?limit=50&all=true&kind=visit')
    expect(await good.json()).to.deep.equal({ limit: 50, all: true, kind: 'visit' })
    for (const [query, field] of [
      ['limit=0', '/limit'],
      ['limit=many', '/limit'],
      ['all=yes', '/all'],
      ['kind=page', '/kind'],
      ['kind=visit&kind=event', '/kind'],
      ['page=2', '/page'],
    ]) {
      const refused = await ask(`/api/query?${query}`)
      expect(refused.status, query).to.equal(400)
      expect(await refused.json(), query).to.include({ error: 'invalid_field', field })
    }
  })

  it('sends what is ready at once, and ends the work as soon as the client is gone', async () => {
    const leaving = new AbortController()
    const told = await fetch(`${base}/api/stream`, {
      signal: leaving.signal,
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    })
    expect([told.status, told.headers.get('x-own'), told.headers.get('cache-control')]).to.deep.equal([
      200,
      'yes',
      'no-store',
    ])
    const reader = (told.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('two')) text += Buffer.from((await reader.read()).value ?? []).toString()
    expect(ended).to.deep.equal([])
    leaving.abort()
    await until(() => ended.length === 2)
    expect(ended).to.deep.equal(['chunks', 'stream'])
  })

  it('says that a stream has ended also if it never began: for a client that left before, and for HEAD', async () => {
    const leaving = new AbortController()
    const headers = { 'Sec-Fetch-Site': 'same-origin' }
    const heard = once(asked, 'asked')
    const late = fetch(`${base}/api/late`, { signal: leaving.signal, headers }).catch((error: Error) => error.name)
    await heard
    leaving.abort()
    expect(await late).to.equal('AbortError')
    await until(() => ended.length === 1)
    const head = await fetch(`${base}/api/stream`, { method: 'HEAD', headers })
    expect([head.status, await head.text()]).to.deep.equal([200, ''])
    await until(() => ended.length === 2)
    expect(ended).to.deep.equal(['stream', 'stream'])
    expect(lines.join('\n')).not.to.include('cut off')
  })

  it('counts and logs no failure if work ends because the client has gone', async () => {
    const leaving = new AbortController()
    const heard = once(asked, 'asked')
    const headers = { 'Sec-Fetch-Site': 'same-origin' }
    const late = fetch(`${base}/api/counts`, { signal: leaving.signal, headers }).catch((error: Error) => error.name)
    await heard
    leaving.abort()
    expect(await late).to.equal('AbortError')
    await until(() => ended.includes('counts'))
    // Whatever becomes of it is known before a later request is answered.
    expect((await ask('/api/query')).status).to.equal(200)
    expect(lines.join('\n')).not.to.include('failed')
    expect(counted).not.to.include(500)
  })

  it('cuts off an answer that cannot continue, so that nobody mistakes it for a complete one', async () => {
    const told = await ask('/api/stream?fails')
    expect(await told.text().catch((error: Error) => error.name)).to.equal('TypeError')
    expect(lines.join('\n')).to.include('cut off')
  })

  it('names in the process log what a handler refuses and its route does not declare', async () => {
    for (const [code, count] of [
      ['last_owner', 1],
      ['invalid_field', 0],
      ['sign_in_refused', 0],
    ] as const) {
      lines.splice(0)
      counts.clear()
      await ask(`/api/limited?outcome=${code}`)
      expect(
        lines.filter((line) => line.includes('does not declare')),
        code,
      ).to.have.length(count)
    }
  })

  it('gives back what an outage took from any window, and what any other refusal took from that of what was asked for', async () => {
    const after = async (outcome: string) => {
      counts.clear()
      const { status } = await ask(`/api/limited?outcome=${outcome}`)
      const [ofRequest] = [...counts].filter(([key]) => key !== 'narrow:acme')
      return [status, ofRequest?.[1], counts.get('narrow:acme')]
    }
    expect(await after('done')).to.deep.equal([200, 1, 1])
    expect(await after('away')).to.deep.equal([503, 0, 0])
    expect(await after('other_away'), 'an outage is one by its class').to.deep.equal([503, 0, 0])
    expect(await after('fault')).to.deep.equal([500, 1, 0])
    expect(await after('namesake'), 'a name makes no outage').to.deep.equal([500, 1, 0])
    for (const [code, { status }] of Object.entries(ERRORS)) {
      if (code === 'rate_limited') continue
      expect(await after(code), code).to.deep.equal([status, status === 503 ? 0 : 1, 0])
    }
    counts.clear()
    const statuses: number[] = []
    for (let times = 0; times < 4; times += 1) statuses.push((await ask('/api/limited?outcome=done')).status)
    expect([statuses, counts.get('narrow:acme')]).to.deep.equal([[200, 200, 429, 429], 2])
  })
})
