/** What routes can rely on: a query that fits its schema, and answers that are made while they are sent. */

import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

import { expect } from 'chai'

import { answer, type Handler } from '../../dashboard/http/call.ts'
import type { RouteRow } from '../../dashboard/http/route.ts'
import { createServe } from '../../dashboard/http/serve.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRandomness } from '../../runtime/random.ts'
import { until } from '../../fixtures/until.ts'

const EVERYONE = { method: 'GET', needs: null, rate: 'read', summary: '' } as const

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
      async ({ queryValues }) => answer(queryValues),
    ],
    [
      { ...EVERYONE, path: '/api/stream', query: { fails: { type: 'string', description: 'Whether it fails.' } } },
      async ({ signal, query }) => ({
        kind: 'stream',
        contentType: 'text/event-stream',
        headers: { 'X-Own': 'yes' },
        chunks: chunks(signal, query.has('fails')),
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

  const counted: number[] = []
  before(async () => {
    const serve = createServe({
      routes: handlers.map(([row, handle]) => ({ row, handle })),
      baseUrl: 'http://127.0.0.1',
      sessions: { read: async () => null } as never,
      directory: {
        organizations: () => new Map(),
        websites: () => [],
        members: () => [],
        ...{ catalogNumber: () => 0, rightsAge: () => 'current', synced: Promise.resolve() },
      },
      hotState: { countHits: async () => ({ kind: 'counted' }) } as never,
      addressHashOf: () => 'address',
      randomness: createRandomness(),
      nowMs: Date.now,
      onLimit: () => undefined,
      metrics: {
        answered: ({ status }) => void counted.push(status),
        limitReached: () => undefined,
        sessionSeen: () => undefined,
      },
      logger: createLogger({ program: 'test', level: 'debug', write: (line) => void lines.push(line) }),
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
})
