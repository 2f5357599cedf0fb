/** One request to the api: its head, then its body, for the answer and for its record. */

import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { boundedParts } from '../../common/bounded-parts.ts'
import type { RateHit } from '../../domain/collection/rate.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { timeOrderedId } from '../../runtime/random.ts'
import type { Aborted, RawBody } from '../../runtime/http/body.ts'
import { addressReader } from '../http/client-address.ts'
import type { ApiDeps } from '../deps.ts'

export interface Exchange {
  readonly id: string
  readonly receivedAtMs: number
  /** From a monotonic clock, for durations. */
  readonly startedMs: number
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** The raw header; null if there is none. */
  readonly origin: string | null
  readonly userAgent: string
  readonly hasGpcHeader: boolean
  readonly addressHash: string
  /** The website ID in the path; undefined if the path has none. */
  readonly namedWebsite: unknown
  /** Shared with the exchange that it was before its body was read. */
  readonly progress: Progress
  /** What the body contains; empty in the exchange of a request whose body was not read. */
  readonly content: RequestContent
}

/** What was done for the request: changed only by the functions below. A set of exchanges instead cost each request 1 us. */
interface Progress {
  counted: readonly CountedHits[]
  isRecorded: boolean
}

/** Hits that were counted for a request: returned if it is answered `503`. */
interface CountedHits {
  readonly hits: readonly RateHit[]
  /** When they were counted, by the process's clock. */
  readonly atMs: number
}

/** The body of a request, as far as it is each of these. */
export interface RequestContent {
  readonly bytes: Buffer
  /** Null if the bytes are not UTF-8. */
  readonly text: string | null
  /** Null if it is not whole, compressed, or not a JSON object. */
  readonly body: JsonObject | null
  /** Whether bytes are missing at its end. */
  readonly isCut: boolean
  /** Compressed bytes could hide receipts, so they are never kept. */
  readonly isEncoded: boolean
}

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- the types of Express are made to be added to this way
  namespace Express {
    interface Request {
      exchange?: Exchange
      /** The bytes of its body; absent until they were read. */
      arrivedBody?: RawBody | Aborted
    }
  }
}

const NO_CONTENT: RequestContent = { bytes: Buffer.alloc(0), text: null, body: null, isCut: false, isEncoded: false }

/** Express sets no parameters for an address that it cannot decode. */
type Opened = Omit<Request, 'params'> & Partial<Pick<Request, 'params'>>

/** The handler that opens the exchange of a request; later handlers get it from `exchangeOf`. */
export function opener(deps: ApiDeps): RequestHandler {
  const addressOf = addressReader(deps.options.trustProxy)
  return (req, _res, next) => {
    req.exchange = openExchange(req, deps, deps.keys.addressHash(addressOf(req), deps.nowMs()))
    next()
  }
}

/** @throws Error if no opener ran before, which is a fault of the route. */
export function exchangeOf(req: Request): Exchange {
  if (req.exchange === undefined) throw new Error('a request without an exchange')
  return req.exchange
}

function openExchange(req: Opened, deps: ApiDeps, addressHash: string): Exchange {
  const receivedAtMs = deps.nowMs()
  const { headers } = req
  return {
    id: timeOrderedId(deps.randomness, receivedAtMs),
    receivedAtMs,
    startedMs: performance.now(),
    method: req.method,
    path: requestedPath(req),
    origin: headers.origin ?? null,
    userAgent: headers['user-agent'] ?? '',
    hasGpcHeader: saysGpcHeader(headers['sec-gpc']),
    addressHash,
    namedWebsite: req.params?.['website'],
    progress: { counted: [], isRecorded: false },
    content: NO_CONTENT,
  }
}

/** The exchange with its body: a new one, as none is ever changed. */
export function withContent(req: Request, content: RequestContent): Exchange {
  const exchange = { ...exchangeOf(req), content }
  req.exchange = exchange
  return exchange
}

/** Keeps what was counted for the request, in case it has to be returned. */
export function rememberHits({ progress }: Exchange, counted: CountedHits): void {
  progress.counted = [...progress.counted, counted]
}

/** What was counted for the request, oldest first. Only the first call gets it, so that nothing is returned twice. */
export function takeHits({ progress }: Exchange): readonly CountedHits[] {
  const { counted } = progress
  progress.counted = []
  return counted
}

/** Its record is on the log, or being written. */
export function noteRecorded({ progress }: Exchange): void {
  progress.isRecorded = true
}

export function isRecorded({ progress }: Exchange): boolean {
  return progress.isRecorded
}

/** How long it has taken so far, for metrics. */
export function secondsSince(exchange: Exchange): number {
  return (performance.now() - exchange.startedMs) / 1_000
}

/** A header sent twice arrives joined by commas; a single `1` among them counts, and so does a list too long to be read. */
function saysGpcHeader(header: string | string[] | undefined): boolean {
  if (header === undefined) return false
  return boundedParts(String(header), ',', LIMITS.headerParts)?.includes('1') ?? true
}

/** The address as requested, without its query; mounted routers must not change what is logged. */
function requestedPath(req: IncomingMessage & { originalUrl?: string }): string {
  const url = req.originalUrl ?? req.url ?? '/'
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
