/** A stand-in for GA4 that records requests, checks them against Google's documented rules, and can be told to fail. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

import { checkGa4Hit, type ValidationMessage } from './ga4-rules.ts'
import {
  answeredStatus,
  applyFault,
  jsonOrText,
  listenOn,
  readRequestText,
  answerJson,
  stopServer,
  type Fault,
  askedFault,
} from './server.ts'

interface Ga4StandInOptions {
  /** 0 picks a free port. */
  readonly port: number
  /** Requests kept for reading; older ones are dropped, but still counted. */
  readonly keep?: number
  readonly nowMs?: () => number
}

/** One raw request with its findings; for the secret, only whether there was one. */
interface HitVerdict {
  /** What Google's documented rules refuse in it; empty if it is valid. */
  readonly messages: readonly ValidationMessage[]
  /** 0 if no answer was given. */
  readonly answered: number
}

export interface RecordedHit extends HitVerdict {
  readonly number: number
  readonly receivedAtMs: number
  readonly path: string
  readonly measurementId: string
  readonly hasSecret: boolean
  /** The body as JSON if it is JSON, otherwise as text. */
  readonly body: unknown
}

export interface Ga4StandIn {
  /** Its base address, for `WHENCE_GA4_URL`. */
  readonly url: string
  /** The latest requests, oldest first. */
  requests(): readonly RecordedHit[]
  /** All requests since the start. */
  total(): number
  /** Applies to one measurement ID, or with `*` to all; null ends it. */
  fail(measurementId: string, fault: Fault | null): void
  close(): Promise<void>
}

const KEEP = 1_000
const MAX_BODY_BYTES = 1_000_000

/**
 * Answers `/mp/collect` and `/debug/mp/collect` like Google, `GET /requests` with what it recorded, and accepts `POST
 * /faults` like the other stand-ins; a fault's key is the measurement ID.
 */
export async function startGa4StandIn(options: Ga4StandInOptions): Promise<Ga4StandIn> {
  const standIn = new StandIn(options.keep ?? KEEP, options.nowMs ?? Date.now)
  const server = createServer((request, response) => void standIn.answer(request, response))
  const port = await listenOn(server, options)
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => standIn.hits,
    total: () => standIn.total,
    fail: (measurementId, fault) => standIn.fail(measurementId, fault),
    close: () => stopServer(server),
  }
}

function properStatus(isDebug: boolean): number {
  return isDebug ? 200 : 204
}

class StandIn {
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
    const url = new URL(request.url ?? '/', 'http://stand-in')
    const isForItself = url.pathname === '/requests' || url.pathname === '/faults'
    if (isForItself) return this.#answerItself(request, response)
    const isDebug = url.pathname === '/debug/mp/collect'
    const isKnown = isDebug || url.pathname === '/mp/collect'
    if (request.method !== 'POST' || !isKnown) return void response.writeHead(404).end()
    const body = await readRequestText(request, MAX_BODY_BYTES)
    if (body === null) return void response.destroy()
    const messages = checkGa4Hit({ query: url.searchParams, body, nowMs: this.#nowMs() })
    const fault = this.#faultOf(url)
    this.#record(url, body, { messages, answered: answeredStatus(fault, properStatus(isDebug)) })
    if (fault !== null && fault.kind !== 'delay') return applyFault(fault, request.socket, response)
    if (fault !== null) await new Promise((resolve) => setTimeout(resolve, fault.waitMs))
    if (isDebug) answerJson(response, { validationMessages: messages })
    // Google gives this answer to everything, even to what it then discards.
    else response.writeHead(204).end()
  }

  /** Any method other than POST reads the recorded requests. */
  async #answerItself(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return answerJson(response, { total: this.total, requests: this.hits })
    const body = await readRequestText(request, MAX_BODY_BYTES)
    const { key, fault } = askedFault(body ?? '{}')
    this.fail(key, fault)
    answerJson(response, { key, fault })
  }

  #faultOf(url: URL): Fault | null {
    const measurementId = url.searchParams.get('measurement_id') ?? ''
    return this.#faults.get(measurementId) ?? this.#faults.get('*') ?? null
  }

  #record(url: URL, body: string, verdict: HitVerdict): void {
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
