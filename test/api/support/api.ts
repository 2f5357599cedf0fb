/** The api as clients use it: every call comes from a different address, and every answer is checked against the OpenAPI document. */

import { expect } from 'chai'
import type { QueryRow } from '../../../ports/facts/queries.ts'
import { eventBody, send, visitBody, type Reply } from '../../../fixtures/service/requests.ts'
import {
  MANIFESTS,
  startTestService,
  TEST_ORIGIN,
  type TestService,
  type TestServiceOptions,
} from '../../../fixtures/service/service.ts'
import { expectDocumented } from './openapi-check.ts'

export interface CallOptions {
  readonly method?: string
  /** Absent: the registered origin for the browsers' endpoints, none for others. Null: none. */
  readonly origin?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** The client address that the proxy in front reports; a fresh one by default. */
  readonly address?: string
  /** False if the answer is not the api's own. */
  readonly isDocumented?: boolean
}

/** All calls made so far. */
export interface Calls {
  /** Posts JSON, or text and bytes as they are. */
  readonly post: (path: string, body: unknown, options?: CallOptions) => Promise<Reply>
  readonly get: (path: string, options?: CallOptions) => Promise<Reply>
  readonly visit: (more?: Record<string, unknown>, options?: CallOptions) => Promise<Reply>
  readonly activate: (receipt: string, more?: Record<string, unknown>, options?: CallOptions) => Promise<Reply>
  readonly handoff: (body: Record<string, unknown>, options?: CallOptions) => Promise<Reply>
  readonly event: (more?: Record<string, unknown>, options?: CallOptions) => Promise<Reply>
  /** A receipt that was activated. */
  readonly activeReceipt: (more?: Record<string, unknown>, origin?: string) => Promise<string>
}

export interface Api extends Calls {
  readonly service: TestService
  readonly stop: () => Promise<void>
}

export type LogRow = QueryRow<'listLogs'>

const BROWSER_PATHS = new Set(['/v1/visits', '/v1/visits/activate', '/v1/handoffs'])
let clients = 0

/** An address that no other call has used. */
export function freshAddress(): string {
  clients++
  return `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`
}

export async function startApi(options: TestServiceOptions = {}): Promise<Api> {
  const service = await startTestService({ ...options, env: { WHENCE_TRUST_PROXY: '127.0.0.1', ...options.env } })
  return { ...callsTo(service.url), service, stop: () => service.stop() }
}

/** To an api that trusts its proxy on 127.0.0.1. */
export function callsTo(baseUrl: string): Calls {
  const call = async (path: string, init: RequestInit, options: CallOptions): Promise<Reply> => {
    const headers = { 'X-Forwarded-For': options.address ?? freshAddress(), ...options.headers }
    const method = options.method ?? init.method ?? 'GET'
    const origin = options.origin === undefined && BROWSER_PATHS.has(path) ? TEST_ORIGIN : (options.origin ?? null)
    const reply = await send(baseUrl + path, { ...init, method, headers: { ...init.headers, ...headers }, origin })
    if (options.isDocumented !== false) expectDocumented(method, path, reply)
    return reply
  }
  const post = (path: string, body: unknown, options: CallOptions = {}): Promise<Reply> => {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text as string }
    return call(path, init, options)
  }
  return {
    post,
    get: (path, options = {}) => call(path, { method: 'GET' }, options),
    visit: (more, options) => post('/v1/visits', visitBody(more), options),
    activate: (receipt, more, options) =>
      post('/v1/visits/activate', { project: 'acme-dev', receipt, ...more }, options),
    handoff: (body, options) => post('/v1/handoffs', { project: 'acme-dev', ...body }, options),
    event: (more, options) => post('/v1/events', eventBody(more), options),
    activeReceipt: async (more = {}, origin = TEST_ORIGIN) => {
      const visit = await post('/v1/visits', visitBody(more), { origin })
      expect(visit.status, visit.text).to.equal(200)
      const { receipt, project } = visit.body['marker']
      const activation = await post('/v1/visits/activate', { project, receipt }, { origin })
      expect(activation.status, activation.text).to.equal(200)
      return receipt
    },
  }
}

/** The example organisation with other words in its manifests. */
export function manifestsWith(...replacements: readonly (readonly [string, string])[]): Record<string, string> {
  let text = MANIFESTS['acme.yaml'] ?? ''
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`the manifests do not say ${from}`)
    text = text.replace(from, to)
  }
  return { 'acme.yaml': text }
}

/** On Free nothing can be delivered, so the destination goes. */
export const FREE_MANIFESTS: Readonly<Record<string, string>> = (() => {
  const { 'acme.yaml': text } = manifestsWith(['plan: Standard', 'plan: Free'])
  return { 'acme.yaml': (text ?? '').split('---').slice(0, 3).join('---') }
})()

const LOG_TRIES = 400
const LOG_PAUSE_MS = 25

/** Waits until Logs hold `count` rows that `matches` picks, and gives them, oldest first. */
export async function logsOf(
  { service }: Api,
  matches: (row: LogRow) => boolean,
  count = 1,
): Promise<readonly LogRow[]> {
  const nowMs = service.nowMs()
  const period = { since_ms: nowMs - 60 * 86_400_000, until_ms: nowMs + 60 * 86_400_000, limit: 10_000 }
  for (let tries = 0; tries < LOG_TRIES; tries++) {
    const rows = (await service.facts.run('listLogs', period)).filter(matches)
    if (rows.length >= count) return rows.toReversed()
    await new Promise((resolve) => setTimeout(resolve, LOG_PAUSE_MS))
  }
  throw new Error(`Logs do not hold ${count} such rows`)
}

export { eventBody, MANIFESTS, TEST_ORIGIN, visitBody }
