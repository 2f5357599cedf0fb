/** A stand-in for GA4 that records what it is sent, judges it by Google's documented rules, and can be told to fail. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import { checkGa4Hit, type ValidationMessage } from './ga4-rules.ts'

export interface Ga4SimulatorOptions {
  /** 0 takes a free one. */
  readonly port: number
  /** Requests kept for reading; older ones are dropped, and still counted. */
  readonly keep?: number
  readonly nowMs?: () => number
}

/** One request as it came, with the verdict; of the secret only whether there was one. */
export interface RecordedHit {
  readonly number: number
  readonly receivedAtMs: number
  readonly path: string
  readonly measurementId: string
  readonly hasSecret: boolean
  /** The body as JSON where it is one, else as text. */
  readonly body: unknown
  /** What Google's documented rules refuse in it; empty where it is valid. */
  readonly messages: readonly ValidationMessage[]
  /** 0 where no answer was given. */
  readonly answered: number
}

/** How requests end that a fault applies to, instead of being answered properly. */
export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Answers 200 and then a byte at a time, without end. */
  | { readonly kind: 'drip'; readonly everyMs: number }
  /** Cuts the connection once the request is there. */
  | { readonly kind: 'reset' }
  /** Answers properly, later. */
  | { readonly kind: 'delay'; readonly waitMs: number }

export interface Ga4Simulator {
  /** Its base address, for `WHENCE_GA4_URL`. */
  readonly url: string
  /** The last ones kept, oldest first. */
  requests(): readonly RecordedHit[]
  /** All since the start. */
  total(): number
  /** Applies to one measurement ID, or with `*` to all; null heals it. */
  fail(measurementId: string, fault: Fault | null): void
  stop(): Promise<void>
}

const KEEP = 1_000
const MAX_BODY_BYTES = 1_000_000
const MAX_DRIPS = 1_000

/** Answers `/mp/collect` and `/debug/mp/collect` as Google does, and `GET /requests` with what it recorded. */
export async function startGa4Simulator(options: Ga4SimulatorOptions): Promise<Ga4Simulator> {
  const simulator = new Simulator(options.keep ?? KEEP, options.nowMs ?? Date.now)
  const server = createServer((request, response) => void simulator.answer(request, response))
  await listen(server, options.port)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => simulator.hits,
    total: () => simulator.total,
    fail: (measurementId, fault) => simulator.fail(measurementId, fault),
    stop: () => stop(server),
  }
}

class Simulator {
  readonly hits: RecordedHit[] = []
  total = 0
  readonly #keep: number
  readonly #nowMs: () => number
  readonly #faults = new Map<string, Fault>()

  constructor(keep: number, nowMs: () => number) {
    this.#keep = keep
    this.#nowMs = nowMs
  }

  fail(measurementId: string, fault: Fault | null): void {
    if (fault === null) this.#faults.delete(measurementId)
    else this.#faults.set(measurementId, fault)
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://simulator')
    if (request.method === 'GET' && url.pathname === '/requests') {
      return sendJson(response, { total: this.total, requests: this.hits })
    }
    const isDebug = url.pathname === '/debug/mp/collect'
    const isKnown = isDebug || url.pathname === '/mp/collect'
    if (request.method !== 'POST' || !isKnown) return void response.writeHead(404).end()
    const body = await readBody(request)
    if (body === null) return void response.destroy()
    const messages = checkGa4Hit({ query: url.searchParams, body, nowMs: this.#nowMs() })
    const fault = this.#faultOf(url)
    this.#record(url, body, { messages, answered: answeredStatus(fault, isDebug) })
    if (fault !== null && fault.kind !== 'delay') return applyFault(fault, request.socket, response)
    if (fault !== null) await new Promise((resolve) => setTimeout(resolve, fault.waitMs))
    if (isDebug) sendJson(response, { validationMessages: messages })
    // Google answers so to everything, also to what it then throws away.
    else response.writeHead(204).end()
  }

  #faultOf(url: URL): Fault | null {
    const measurementId = url.searchParams.get('measurement_id') ?? ''
    return this.#faults.get(measurementId) ?? this.#faults.get('*') ?? null
  }

  #record(url: URL, body: string, verdict: Pick<RecordedHit, 'messages' | 'answered'>): void {
    this.total += 1
    this.hits.push({
      number: this.total,
      receivedAtMs: this.#nowMs(),
      path: url.pathname,
      measurementId: url.searchParams.get('measurement_id') ?? '',
      hasSecret: (url.searchParams.get('api_secret') ?? '') !== '',
      body: jsonOrText(body),
      ...verdict,
    })
    if (this.hits.length > this.#keep) this.hits.splice(0, this.hits.length - this.#keep)
  }
}

function answeredStatus(fault: Fault | null, isDebug: boolean): number {
  if (fault === null || fault.kind === 'delay') return isDebug ? 200 : 204
  if (fault.kind === 'status') return fault.status
  return fault.kind === 'drip' ? 200 : 0
}

function applyFault(fault: Exclude<Fault, { kind: 'delay' }>, socket: Socket, response: ServerResponse): void {
  switch (fault.kind) {
    case 'status':
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
      return
    case 'reset':
      socket.resetAndDestroy()
      return
    case 'drip':
      drip(response, fault.everyMs)
      return
    case 'hang':
      return
  }
}

function drip(response: ServerResponse, everyMs: number): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  let drips = 0
  const timer = setInterval(() => {
    drips += 1
    response.write(' ')
    if (drips >= MAX_DRIPS) response.end()
  }, everyMs)
  response.on('close', () => clearInterval(timer))
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) return null
      chunks.push(chunk)
    }
  } catch {
    return null
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOrText(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
