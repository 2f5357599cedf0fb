/** One request on its way through the api: what is known of it so far, for the answer and for its one record. */

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
  /** Of a steady clock, for durations. */
  readonly startedMs: number
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** The header as it came; null where there is none. */
  readonly origin: string | null
  readonly userAgent: string
  readonly hasGpcHeader: boolean
  readonly addressHash: string
  /** What came of the body; null until it has been read. */
  arrival: RawBody | Aborted | null
  bytes: Buffer
  text: string | null
  isCut: boolean
  body: JsonObject | null
  /** Whose request it is, as far as it can be told: for the record, whatever is wrong with the request. */
  website: Website | null
  /** What was counted for it, and when by the process's clock: given back if it is answered `503`. */
  counted: { readonly hits: readonly RateHit[]; readonly atMs: number }[]
  /** Set where the body must not be kept: an organisation over its quota, or bytes that could hide anything. */
  isWithheld: boolean
  /** Whether its record is on the log, or on its way there. */
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

/** The handler that opens the exchange of a request; those behind it find it with `exchangeOf`. */
export function opener(deps: ApiDeps): RequestHandler {
  const addressOf = addressReader(deps.options.trustProxy)
  return (req, _res, next) => {
    req.exchange = openExchange(req, deps, deps.keys.addressHash(addressOf(req), deps.nowMs()))
    next()
  }
}

/** @throws Error where no opener stands before, which is a fault of the route. */
export function exchangeOf(req: Request): Exchange {
  if (req.exchange === undefined) throw new Error('a request without an exchange')
  return req.exchange
}

export function openExchange(req: IncomingMessage, deps: ApiDeps, addressHash: string): Exchange {
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

/** A header sent twice arrives joined by commas; one `1` is a wish to be respected. */
function hasGpc(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((value) => value.trim() === '1')
}

/** The address as asked for, without its query; mounted routers must not change what is logged. */
export function pathOf(req: IncomingMessage & { originalUrl?: string }): string {
  const url = req.originalUrl ?? req.url ?? '/'
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}
