/**
 * The path of every POST to a collection endpoint, in the decided order of checks: head, size, JSON, fields, website,
 * Origin and page, limits, state. The address limit runs before it, as middleware. Each request gets one answer and one
 * record.
 */

import type { Request, RequestHandler, Response } from 'express'
import { refuse, type Refusal } from '../../domain/errors.ts'
import type { RateHit } from '../../domain/collection/rate.ts'
import type { Website } from '../../domain/catalog.ts'
import { normaliseOrigin } from '../../domain/origin.ts'
import { checkPage, type VisitPage } from '../../domain/collection/visit.ts'
import { parseStrictJson, type JsonObject } from '../../domain/strict-json.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { checkHead, decodeBody, isEncoded, readBody } from '../http/body.ts'
import type { ApiDeps } from '../deps.ts'
import { exchangeOf, secondsSince, type Exchange } from './exchange.ts'
import { corsHeaders } from '../http/origin-guard.ts'
import { findWebsite, ownerOf } from './owner.ts'
import { sendJson, sendRefusal, type Headers } from '../http/reply.ts'
import type { Recorder } from './request-logs.ts'
import { noteUnregisteredOrigin } from './unregistered-origin.ts'
import { sha256Hex } from '../../common/digest.ts'

/** A request that passed every check that needs no state. */
export interface CheckedRequest {
  readonly kind: 'checked'
  readonly exchange: Exchange
  readonly body: JsonObject
  readonly website: Website
  /** The website's registered origin that sent this; empty for the native endpoint. */
  readonly origin: string
  /** For a request that records a visit: its page, checked to be the website's. */
  readonly page: VisitPage | null
}

export interface AcceptedAnswer {
  readonly kind: 'answer'
  readonly body: object
}

export interface CollectionRoute {
  readonly caller: 'browser' | 'native'
  readonly validate: (body: JsonObject) => Refusal | null
  /** Whether this body records a visit, whose page must then be the website's. */
  readonly isVisit: (body: JsonObject) => boolean
  /** Narrow windows first. */
  readonly hits: (request: CheckedRequest) => readonly RateHit[]
  /** State and effects. Appends its own record if it leaves a fact; throws `LogUnavailable` if the log refuses. */
  readonly handle: (request: CheckedRequest) => Promise<Refusal | AcceptedAnswer>
}

export interface PipelineParts {
  readonly deps: ApiDeps
  readonly recorder: Recorder
}

/**
 * Reads the body of a POST, starting before the first await: what came with the head then needs no buffer of the
 * stream. Faults of the request are still found later, with the body for its record.
 */
export const receive: RequestHandler = async (req, _res, next) => {
  exchangeOf(req).arrival = await readBody(req)
  next()
}

export function collect(route: CollectionRoute, parts: PipelineParts): RequestHandler {
  const { deps, recorder } = parts
  return async (req, res) => {
    const exchange = exchangeOf(req)
    const outcome = await settle(exchange, recorder, deps, () => run(route, parts, { req, exchange }))
    if (outcome === null || res.destroyed) return
    if (outcome.kind === 'refused') return sendRefused({ req, res, exchange, refusal: outcome }, parts)
    sendJson(res, outcome.body, corsHeaders(req, deps.catalog()))
    deps.metrics.answered(routeNameOf(req), 200, '', secondsSince(exchange))
  }
}

interface RefusedExchange {
  readonly req: Request
  readonly res: Response
  readonly exchange: Exchange
  readonly refusal: Refusal
  readonly headers?: Headers
}

/** Answers, records and counts a refusal; if the body was not read to its end, the connection is closed. */
export function sendRefused(
  { req, res, exchange, refusal, headers = {} }: RefusedExchange,
  { deps, recorder }: Pick<PipelineParts, 'deps' | 'recorder'>,
): void {
  const close = exchange.isCut ? { Connection: 'close' } : {}
  const status = sendRefusal(res, refusal, { ...corsHeaders(req, deps.catalog()), ...close, ...headers })
  if (!exchange.isRecorded) recorder.note(exchange, status, refusal.code)
  deps.metrics.answered(routeNameOf(req), status, refusal.code, secondsSince(exchange))
}

/** The collection endpoint of a request, in the contract's spelling: one of a handful of names. */
export function routeNameOf(req: Request): string {
  const { path } = req.route as { readonly path: string }
  return path.includes(':') ? path.replace(/:(\w+)/g, '{$1}') : path
}

/** Runs the checks and the handler; an exception becomes the `503` or `500` answer. */
async function settle(
  exchange: Exchange,
  recorder: Recorder,
  deps: ApiDeps,
  work: () => Promise<Refusal | AcceptedAnswer | null>,
): Promise<Refusal | AcceptedAnswer | null> {
  try {
    const outcome = await work()
    if (outcome?.kind === 'answer' && !exchange.isRecorded) await recorder.accept(exchange, null)
    if (outcome?.kind === 'refused' && outcome.code === 'unavailable') await giveHitsBack(exchange, deps)
    return outcome
  } catch (error) {
    if (error instanceof LogUnavailable) {
      await giveHitsBack(exchange, deps)
      return refuse('unavailable')
    }
    deps.logger.error({ err: error, requestId: exchange.id }, 'request failed')
    return refuse('internal')
  }
}

/** A request that was not accepted uses up no window. An unreachable hot state must not make the answer worse. */
async function giveHitsBack(exchange: Exchange, { hotState, nowMs, logger }: ApiDeps): Promise<void> {
  const given = exchange.counted
    .splice(0)
    .map(({ hits, atMs }) => hotState.returnHits(hits, Math.max(0, nowMs() - atMs)))
  await Promise.all(given).catch((error: unknown) => logger.warn({ err: error }, 'hits could not be given back'))
}

async function run(
  route: CollectionRoute,
  parts: PipelineParts,
  { req, exchange }: { readonly req: Request; readonly exchange: Exchange },
): Promise<Refusal | AcceptedAnswer | null> {
  const headRefusal = checkHead(req)
  if (!(await takeBody(req, exchange, parts))) return null
  const { body } = exchange
  const website = findWebsite(body?.['project'], parts.deps)
  exchange.website = website ?? ownerOf(exchange, parts.deps)
  const refusal = refuseBrowser(route, exchange) ?? headRefusal ?? refuseBody(route, exchange)
  if (refusal !== null || body === null) return refusal
  const request =
    website === null ? refuse('website_not_found') : checkSender(route, { body, website, exchange }, parts)
  if (request.kind === 'refused') return request
  return (await countHits(route.hits(request), request, parts)) ?? route.handle(request)
}

/** Whatever the body contains: a request with an Origin came from a browser, and events come from the hook. */
function refuseBrowser({ caller }: CollectionRoute, { origin }: Exchange): Refusal | null {
  return caller === 'native' && origin !== null ? refuse('native_endpoint') : null
}

function refuseBody({ validate }: CollectionRoute, { isCut, body }: Exchange): Refusal | null {
  if (isCut) return refuse('body_too_large')
  return body === null ? refuse('invalid_json') : validate(body)
}

/**
 * Reads the body into the exchange, as bytes, text and object as far as it is each of these; false if the client has
 * disconnected.
 */
export async function takeBody(
  req: Request,
  exchange: Exchange,
  { deps, recorder }: Pick<PipelineParts, 'deps' | 'recorder'>,
): Promise<boolean> {
  const raw = await (exchange.arrival ?? readBody(req))
  exchange.bytes = raw.bytes
  exchange.isCut = raw.kind === 'aborted' || raw.isCut
  exchange.text = decodeBody(raw.bytes)
  // A compressed body could hide receipts.
  exchange.isWithheld = isEncoded(req)
  const isWhole = exchange.text !== null && !exchange.isCut && !exchange.isWithheld
  exchange.body = isWhole ? parseStrictJson(exchange.text ?? '') : null
  if (raw.kind === 'body') return true
  exchange.website = ownerOf(exchange, deps)
  recorder.note(exchange, 0, 'aborted')
  return false
}

/** The sender's origin and, for a visit, its page. */
function checkSender(
  route: CollectionRoute,
  { body, website, exchange }: Pick<CheckedRequest, 'body' | 'website' | 'exchange'>,
  parts: PipelineParts,
): CheckedRequest | Refusal {
  const origin = checkOrigin(route, exchange, website)
  if (typeof origin !== 'string') {
    if (exchange.origin !== null) void noteUnregisteredOrigin(website, exchange.origin, parts)
    return origin
  }
  const request: CheckedRequest = { kind: 'checked', exchange, body, website, origin, page: null }
  if (!route.isVisit(body)) return request
  const page = checkPage(body, { website, origin, sha256Hex })
  return page.kind === 'refused' ? page : { ...request, page }
}

/** Browsers must call from a registered origin; the hook must not be called from a browser at all. */
function checkOrigin(route: CollectionRoute, exchange: Exchange, website: Website): string | Refusal {
  const sent = exchange.origin
  if (route.caller === 'native') return ''
  if (sent === null) return refuse('origin_not_allowed')
  // Browsers send the normal form, so only others take the slow path.
  const origin = website.origins.has(sent) ? sent : normaliseOrigin(sent)
  return origin !== null && website.origins.has(origin) ? origin : refuse('origin_not_allowed')
}

async function countHits(
  hits: readonly RateHit[],
  { website, exchange }: CheckedRequest,
  { deps, recorder }: PipelineParts,
): Promise<Refusal | null> {
  if (hits.length === 0) return null
  const atMs = deps.nowMs()
  const outcome = await deps.hotState.countHits(hits)
  if (outcome.kind === 'counted') {
    exchange.counted.push({ hits, atMs })
    return null
  }
  const rule = hits[outcome.exceeded[0] ?? 0]?.rule ?? 'collection'
  if (outcome.isFirst) recorder.limitReached(website, rule)
  return refuse('rate_limited', { retryAfter: outcome.retryAfterS })
}
