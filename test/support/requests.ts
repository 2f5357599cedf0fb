/** Builders of the contract's requests, and one function that sends them. */

import { createHash, randomBytes } from 'node:crypto'
import { TEST_ORIGIN } from './service.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, any>
  readonly text: string
}

export async function send(url: string, init: RequestInit & { readonly origin?: string | null } = {}): Promise<Reply> {
  const headers = new Headers(init.headers)
  if (init.origin !== null && init.origin !== undefined) headers.set('Origin', init.origin)
  const response = await fetch(url, { ...init, headers })
  const text = await response.text()
  let body: Record<string, any> = {}
  try {
    body = JSON.parse(text)
  } catch {
    // Scripts are text.
  }
  return { status: response.status, headers: response.headers, body, text }
}

export function post(url: string, body: unknown, origin: string | null = null): Promise<Reply> {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  return send(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text as string, origin })
}

/** What is no address has no ID of its own; the service must refuse it before it looks at the ID. */
export function urlIdOf(pageUrl: string): string {
  if (!URL.canParse(pageUrl)) return 'url_0000000000000000'
  const { origin, pathname } = new URL(pageUrl)
  return `url_${createHash('sha256')
    .update(origin + pathname)
    .digest('hex')
    .slice(0, 16)}`
}

/** A visit of the page `/install` with a GA4 identity; `more` replaces fields. */
export function visitBody(more: Record<string, unknown> = {}): Record<string, any> {
  const pageUrl = (more['page_url'] as string | undefined) ?? `${TEST_ORIGIN}/install`
  const now = Math.floor(Date.now() / 1_000)
  return {
    project: 'acme-dev',
    url_id: urlIdOf(pageUrl),
    page_url: pageUrl,
    referrer: 'https://news.example/item?id=1',
    identities: { ga4: { 'G-TEST000001': { client_id: `123456789.${now}`, session_id: String(now) } } },
    source: {
      referrer: 'https://news.example/',
      utm: { source: 'newsletter', campaign: 'launch' },
      landed_at: Date.now(),
    },
    gpc: false,
    client: { timezone: 'Europe/Berlin', language: 'en' },
    ...more,
  }
}

export function newId(): string {
  return randomBytes(16).toString('hex')
}

export function eventBody(more: Record<string, unknown> = {}): Record<string, any> {
  return {
    project: 'acme-dev',
    event_id: newId(),
    installation_id: newId(),
    event_type: 'install_completed',
    receipts: [],
    platform: 'linux',
    install_path: 'cli',
    arch: 'x86_64',
    browsers: ['chromium'],
    ...more,
  }
}

/** A visit with its marker written: its receipt is active. */
export async function activeReceipt(
  url: string,
  more: Record<string, unknown> = {},
  origin = TEST_ORIGIN,
): Promise<string> {
  const visit = await post(`${url}/v1/visits`, visitBody(more), origin)
  if (visit.status !== 200) throw new Error(`visit: ${visit.status} ${visit.text}`)
  const { receipt, project } = visit.body['marker']
  const activation = await post(`${url}/v1/visits/activate`, { project, receipt }, origin)
  if (activation.status !== 200) throw new Error(`activation: ${activation.status} ${activation.text}`)
  return receipt
}
