/** A stand-in for the service that serves the bundle, answers as the contract says, records requests, and misbehaves on request. */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'

/** One request that reached the stand-in; preflights are not recorded. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: any
}

/** Below the time limit of the tests, so that they end with what was seen and not with nothing. */
const WAIT_MS = 45_000

/** How a path misbehaves: an own answer, silence until the next test, an answer that comes
 * late, or one that the page may not read. */
export type Misbehaviour =
  { readonly status: number; readonly body: string } | { readonly delayMs: number } | 'hang' | 'withoutCors'

export interface RecordingService {
  readonly url: string
  readonly requests: Recorded[]
  /** Requests of one path, waiting until there are `count` of them. */
  readonly waitFor: (pathEnd: string, count?: number) => Promise<Recorded[]>
  readonly misbehave: Map<string, Misbehaviour>
  config: { measurementIds: string[]; providers: string[] }
  /** What `origins` answers. */
  site: { origins: string[]; ignoredReferrers: string[]; crossOrigin: 'Carry' | 'Disabled' }
  /** Of the bundle. By default nothing is cached, so that each test sees its own requests. */
  cacheControl: string
  /** Forgets what came and how to misbehave. */
  readonly reset: () => void
  readonly close: () => Promise<void>
}

const DAY_MS = 86_400_000

const noOrigins = (): RecordingService['site'] => ({ origins: [], ignoredReferrers: [], crossOrigin: 'Carry' })

/** `bundle` is the folder that the build wrote. `prefix` precedes every path, as behind a site's own proxy. */
export async function startRecordingService(bundle: string, prefix = ''): Promise<RecordingService> {
  const waiting: (() => void)[] = []
  const hanging: ServerResponse[] = []
  const server = createServer((request, response) => void answer(request, response))
  const service: RecordingService = {
    url: '',
    requests: [],
    misbehave: new Map(),
    config: { measurementIds: [], providers: ['ga4'] },
    site: noOrigins(),
    cacheControl: 'no-store',
    reset: () => {
      // What the test before left hanging would hold the few connections that a browser has for a host. A connection
      // that is cut off instead has the browser send its request again.
      for (const response of hanging.splice(0)) response.writeHead(503).end()
      service.requests.length = 0
      service.misbehave.clear()
      service.config = { measurementIds: [], providers: ['ga4'] }
      service.site = noOrigins()
    },
    waitFor: async (pathEnd, count = 1) => {
      const deadline = AbortSignal.timeout(WAIT_MS)
      for (;;) {
        const found = service.requests.filter((each) => each.path.endsWith(pathEnd))
        if (found.length >= count) return found
        if (deadline.aborted) {
          const seen = service.requests.map(({ method, path }) => `${method} ${path}`).join(', ')
          throw new Error(`${count} of ${pathEnd} did not come within ${WAIT_MS} ms; what came: ${seen}`)
        }
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          deadline.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = (request.url ?? '').slice(prefix.length).replace(/\?.*/, '')
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*')
    response.setHeader('access-control-allow-headers', 'content-type')
    response.setHeader('access-control-max-age', '7200')
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = text ? JSON.parse(text) : null
    service.requests.push({ method: request.method ?? '', path: url, headers: request.headers, body })
    for (const wake of waiting.splice(0)) wake()
    if (await misbehaves(url, response)) return
    if (/\/browser[./]/.test(url)) return serveBundle(url, response)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerOf(url, body, request)))
  }

  /** True if the answer is given, or never comes. */
  async function misbehaves(url: string, response: ServerResponse): Promise<boolean> {
    const trouble = [...service.misbehave].find(([end]) => url.endsWith(end))?.[1]
    if (trouble === undefined) return false
    if (trouble === 'hang') {
      hanging.push(response)
      return true
    }
    if (trouble === 'withoutCors') {
      response.removeHeader('access-control-allow-origin')
      response.writeHead(200).end('{}')
    } else if ('delayMs' in trouble) {
      await new Promise((resolve) => setTimeout(resolve, trouble.delayMs))
      return false
    } else response.writeHead(trouble.status, { 'content-type': 'application/json' }).end(trouble.body)
    return true
  }
  async function serveBundle(url: string, response: ServerResponse): Promise<void> {
    const name = url.replace(/^\/browser\.[0-9a-f]+\.js$/, '/browser.js')
    const file = await readFile(path.join(bundle, name)).catch(() => null)
    const headers = { 'content-type': 'text/javascript', 'cache-control': service.cacheControl }
    response.writeHead(file ? 200 : 404, headers).end(file ?? '')
  }

  function answerOf(url: string, body: any, request: IncomingMessage): object {
    if (url.endsWith('/browser-config')) return service.config
    if (url.endsWith('/origins')) return service.site
    const receipt = randomBytes(32).toString('base64url')
    const now = Date.now()
    if (url === '/v1/handoffs') {
      const token = { ok: true, token: `wht_${randomBytes(32).toString('base64url')}`, expires_at: now + 30 * DAY_MS }
      return body.receipt ? token : { ...token, receipt }
    }
    if (url !== '/v1/visits') return { ok: true }
    const { project, url_id } = body
    const origin = request.headers.origin
    return {
      // The format comes last here on purpose: the SDK must put it first.
      marker: {
        version: 1,
        project,
        url_id,
        origin,
        receipt,
        created_at: now,
        expires_at: now + 30 * DAY_MS,
        format: 'opfs-install-attribution',
      },
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  Object.assign(service, { url: `http://127.0.0.1:${port}${prefix}` })
  return service
}
