/** One request on its way through the api: what is known of it so far, for the answer and for its record. */

import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import type { Website } from '../../domain/catalog.ts'
import type { RateHit } from '../../domain/collection/rate.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { timeOrderedId } from '../../runtime/random.ts'
import type { Aborted, RawBody } from '../http/body.ts'
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
  /** The header as it came; null if there is none. */
  readonly origin: string | null
  readonly userAgent: string
  readonly hasGpcHeader: boolean
  readonly addressHash: string
  /** The result of reading the body; null until it has been read. */
  arrival: RawBody | Aborted | null
  bytes: Buffer
  text: string | null
  isCut: boolean
  body: JsonObject | null
  /** The website that the request belongs to, as far as known: for the record, whatever is wrong with the request. */
  website: Website | null
  /** The hits counted for it, with the time by the process's clock: returned if it is answered `503`. */
  counted: { readonly hits: readonly RateHit[]; readonly atMs: number }[]
  /** Set if the body must not be kept: an organisation over its quota, or bytes that could hide anything. */
  isWithheld: boolean
  /** Whether its record is on the log, or being written. */
  isRecorded: boolean
}

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- the types of Express are made to be added to this way
  namespace Express {
    interface Request {
      exchange?: Exchange
    }
  }
}

const NO_BYTES = Buffer.alloc(0)

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

function openExchange(req: IncomingMessage, deps: ApiDeps, addressHash: string): Exchange {
  const receivedAtMs = deps.nowMs()
  const { headers } = req
  return {
    id: timeOrderedId(deps.randomness, receivedAtMs),
    receivedAtMs,
    startedMs: performance.now(),
    method: req.method ?? '',
    path: pathOf(req),
    origin: headers.origin ?? null,
    userAgent: headers['user-agent'] ?? '',
    hasGpcHeader: hasGpc(headers['sec-gpc']),
    addressHash,
    arrival: null,
    bytes: NO_BYTES,
    text: null,
    isCut: false,
    body: null,
    website: null,
    counted: [],
    isWithheld: false,
    isRecorded: false,
  }
}

/** How long it has taken so far, for metrics. */
export function secondsSince(exchange: Exchange): number {
  return (performance.now() - exchange.startedMs) / 1_000
}

/** A header sent twice arrives joined by commas; a single `1` among them counts. */
function hasGpc(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((value) => value.trim() === '1')
}

/** The address as requested, without its query; mounted routers must not change what is logged. */
function pathOf(req: IncomingMessage & { originalUrl?: string }): string {
  const url = req.originalUrl ?? req.url ?? '/'
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
