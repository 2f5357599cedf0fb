/** A server that records what the hook sends and refuses whatever the contract of `POST /v1/events` does not know. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'

export interface Recorded {
  readonly method: string
  readonly url: string
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
  /** What the contract does not allow in it; empty if all is well. */
  readonly complaints: readonly string[]
}

export interface Recorder {
  readonly baseUrl: string
  /** Requests whose path begins with this prefix (`/name`), in the order they came. */
  readonly under: (prefix: string) => readonly Recorded[]
  readonly all: readonly Recorded[]
  readonly close: () => Promise<void>
}

const ID = /^[A-Za-z0-9_-]{8,128}$/
const FACT = /^[A-Za-z0-9_./+-]{1,128}$/
const STATED = /^[^\p{Cc}\p{Cf}]{1,64}$/u
const isTrue = (value: unknown) => value === true
const isString = (shape: RegExp) => (value: unknown) => typeof value === 'string' && shape.test(value)
const isList = (shape: RegExp, most: number) => (value: unknown) =>
  Array.isArray(value) && value.length <= most && value.every(isString(shape))

const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  project: isString(/^[a-z0-9-]{1,63}$/),
  event_id: isString(ID),
  installation_id: isString(ID),
  event_type: isString(/^(install_started|install_completed|first_run)$/),
  receipts: isList(/^[A-Za-z0-9_-]{43}$/, 64),
  handoff: isString(ID),
  platform: isString(/^(darwin|linux)$/),
  install_path: isString(/^[a-z0-9-]+$/),
  arch: isString(FACT),
  browsers: isList(/^[a-z]+$/, 32),
  default_browser: isString(/^[a-z]+$/),
  timezone: isString(FACT),
  language: isString(FACT),
  product_version: isString(STATED),
  place: isString(STATED),
  ci: isTrue,
  container: isTrue,
  test: isString(/^[A-Za-z0-9_.]{1,128}$/),
}
const REQUIRED = ['project', 'event_id', 'installation_id', 'event_type', 'receipts']
const HEADERS = [
  'host',
  'user-agent',
  'accept',
  'content-type',
  'content-length',
  'connection',
  'accept-encoding', // wget adds these by itself
]

export async function startRecorder(status = 200): Promise<Recorder> {
  const all: Recorded[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      all.push(record(request, Buffer.concat(chunks).toString('utf8')))
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"ok":true}\n')
    })
  })
  await listen(server)
  return {
    baseUrl: `http://127.0.0.1:${portOf(server)}`,
    under: (prefix) => all.filter(({ url }) => url.startsWith(`${prefix}/`)),
    all,
    close: () => stop(server),
  }
}

function record(request: IncomingMessage, text: string): Recorded {
  const { method = '', url = '', rawHeaders, headers } = request
  const complaints: string[] = []
  if (method !== 'POST' || !url.endsWith('/v1/events')) complaints.push(`not the endpoint: ${method} ${url}`)
  if (headers['content-type'] !== 'application/json') complaints.push('wrong content type')
  if (Number(headers['content-length']) !== Buffer.byteLength(text)) complaints.push('no exact length')
  if (Buffer.byteLength(text) > 16_384) complaints.push('body too large')
  for (const name of Object.keys(headers)) if (!HEADERS.includes(name)) complaints.push(`header ${name}`)
  if (!/^[a-z-]+-hook\/[0-9.]+( agent\/[a-z-]+)?$/.test(headers['user-agent'] ?? '')) complaints.push('user agent')
  return { method, url, rawHeaders, text, ...read(text, complaints), complaints }
}

function read(text: string, complaints: string[]): { readonly body: Record<string, unknown> } {
  let body: Record<string, unknown> = {}
  try {
    body = JSON.parse(text) as Record<string, unknown>
  } catch {
    complaints.push('not JSON')
  }
  for (const [name, value] of Object.entries(body)) {
    const isRight = MEMBERS[name]
    if (isRight === undefined) complaints.push(`unknown member ${name}`)
    else if (!isRight(value)) complaints.push(`member ${name}: ${JSON.stringify(value)}`)
  }
  for (const name of REQUIRED) if (!(name in body)) complaints.push(`no ${name}`)
  if ('handoff' in body && (body['receipts'] as unknown[]).length > 0) complaints.push('handoff beside receipts')
  return { body }
}

export function listen(server: Server | NetServer): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}

export function portOf(server: Server | NetServer): number {
  return (server.address() as AddressInfo).port
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
