/**
 * The path of every POST to a collection endpoint, in the decided order of checks: head, size, JSON, fields, website,
 * Origin and page, limits, state. The address limit runs before it, as middleware. Each request gets one answer and one
 * record.
 */

import type { Request, RequestHandler, Response } from 'express'
import { ERRORS, refuse, type Refusal } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { RateHit } from '../../domain/collection/rate.ts'
import type { Website } from '../../domain/catalog.ts'
import { normaliseOrigin } from '../../domain/origin.ts'
import { parseStrictJson, type JsonObject, textOf, memberOf } from '../../domain/strict-json.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import type { CollectionAnswer } from '../openapi/schemas.ts'
import { describeSpan, traced } from '../../runtime/tracing.ts'
import { checkHead, decodeBody, isEncoded, readBody } from '../../runtime/http/body.ts'
import type { ApiDeps } from '../deps.ts'
import {
  isRecorded,
  rememberHits,
  secondsSince,
  takeHits,
  withContent,
  type Exchange,
  type RequestContent,
} from './exchange.ts'
import { parserRefusal } from '../http/broken-http.ts'
import { corsHeaders } from '../http/origin-guard.ts'
import { findWebsite } from './owner.ts'
import { sendJson, sendRefusal, type Headers } from '../http/reply.ts'
import type { Recorder } from './request-logs.ts'
import { noteUnregisteredOrigin } from './unregistered-origin.ts'

/** A request that passed every check that needs no state. */
export interface CheckedRequest {
  readonly kind: 'checked'
  readonly exchange: Exchange
  readonly body: JsonObject
  readonly website: Website
  /** The website's registered origin that sent this; empty for the native endpoint. */
  readonly origin: string
}

export interface AcceptedAnswer {
  readonly kind: 'answer'
  readonly body: CollectionAnswer
  /** Over the quota: nothing was stored, and the request log does not keep the body. */
  readonly isUnrecorded?: boolean
}

/** `Checked`: what a request of this route is once every check that needs no state is passed. */
export interface CollectionRoute<Checked extends CheckedRequest = CheckedRequest> {
  readonly caller: 'browser' | 'native'
  readonly validate: (body: JsonObject) => Refusal | null
  /** The route's own check, after website and Origin: that a visit's page is the website's. */
  readonly check: (request: CheckedRequest) => Checked | Refusal
  /** Narrow windows first. */
  readonly hits: (request: Checked) => readonly RateHit[]
  /** State and effects. Appends its own record if it leaves a fact; throws `LogUnavailable` if the log refuses. */
  readonly handle: (request: Checked) => Promise<Refusal | AcceptedAnswer>
}

export interface PipelineParts {
  readonly deps: ApiDeps
  readonly recorder: Recorder
}

/** The beginning of a body that is too large shows whom to record the refusal for. */
const BODY = { mostBytes: LIMITS.bodyBytes, beginningMs: 200 }

/**
 * Reads the body of a POST, starting before the first await: what came with the head then needs no buffer of the
 * stream. Faults of the request are still found later, with the body for its record.
 */
export const receive: RequestHandler = async (req, _res, next) => {
  req.arrivedBody = await readBody(req, BODY)
  next()
}

export function collectionHandler<Checked extends CheckedRequest>(
  route: CollectionRoute<Checked>,
  parts: PipelineParts,
): RequestHandler {
  const { deps } = parts
  const answer = async (req: Request, res: Response): Promise<void> => {
    const exchange = await takeBody(req, parts)
    if (exchange === null) return
    const outcome = await withOutage(exchange, deps, () => runRoute(route, parts, { req, exchange }))
    if (res.destroyed) return
    if (outcome.kind === 'refused') return sendRefused({ req, res, exchange, refusal: outcome }, parts)
    sendJson(res, outcome.body, corsHeaders(req, deps.catalog()))
    deps.metrics.answered(routeNameOf(req), 200, '', secondsSince(exchange))
  }
  return (req, res) => {
    const name = routeNameOf(req)
    const attributes = { 'http.request.method': req.method, 'http.route': name }
    return traced({ name: `${req.method} ${name}`, kind: 'SERVER', attributes }, async () => {
      await answer(req, res)
      describeSpan({ 'http.response.status_code': res.statusCode })
    })
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
  { deps, recorder }: PipelineParts,
): void {
  const close = exchange.content.isCut ? { Connection: 'close' } : {}
  const status = sendRefusal(res, refusal, { ...corsHeaders(req, deps.catalog()), ...close, ...headers })
  if (!isRecorded(exchange)) recorder.note(exchange, status, refusal.code)
  deps.metrics.answered(routeNameOf(req), status, refusal.code, secondsSince(exchange))
}

/** The collection endpoint of a request, in the contract's spelling: one of a handful of names. */
export function routeNameOf(req: Request): string {
  const path = textOf(memberOf(req.route, 'path'))
  return path.includes(':') ? path.replace(/:(\w+)/g, '{$1}') : path
}

/** Runs the checks and the handler; an exception becomes the `503` or `500` answer. */
async function withOutage(
  exchange: Exchange,
  deps: ApiDeps,
  work: () => Promise<Refusal | AcceptedAnswer>,
): Promise<Refusal | AcceptedAnswer> {
  try {
    const outcome = await work()
    if (outcome.kind === 'refused' && outcome.code === 'unavailable') await giveHitsBack(exchange, deps)
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
  const given = takeHits(exchange).map(({ hits, atMs }) => hotState.returnHits(hits, Math.max(0, nowMs() - atMs)))
  await Promise.all(given).catch((error: unknown) => logger.warn({ err: error }, 'hits could not be given back'))
}

async function runRoute<Checked extends CheckedRequest>(
  route: CollectionRoute<Checked>,
  parts: PipelineParts,
  { req, exchange }: { readonly req: Request; readonly exchange: Exchange },
): Promise<Refusal | AcceptedAnswer> {
  const { body } = exchange.content
  const website = findWebsite(body?.['project'], parts.deps)
  const refusal = refuseBrowser(route, exchange) ?? checkHead(req) ?? refuseBody(route, exchange.content)
  if (refusal !== null || body === null) return refusal ?? refuse('invalid_json')
  if (website === null) return refuse('website_not_found')
  const sent = checkSender(route, { body, website, exchange }, parts)
  const request = sent.kind === 'refused' ? sent : route.check(sent)
  if (request.kind === 'refused') return request
  return (await countHits(route.hits(request), request, parts)) ?? handle(route, request, parts)
}

/** Records the request if the route has not: an answer is sent only once its record is durable. */
async function handle<Checked extends CheckedRequest>(
  route: CollectionRoute<Checked>,
  request: Checked,
  { recorder }: PipelineParts,
): Promise<Refusal | AcceptedAnswer> {
  const outcome = await route.handle(request)
  if (outcome.kind === 'answer' && !isRecorded(request.exchange)) {
    const { exchange, website } = request
    await recorder.accept({ exchange, website, isUnrecorded: outcome.isUnrecorded === true }, null)
  }
  return outcome
}

/** Whatever the body contains: a request with an Origin came from a browser, and events come from the hook. */
function refuseBrowser({ caller }: Pick<CollectionRoute, 'caller'>, { origin }: Exchange): Refusal | null {
  return caller === 'native' && origin !== null ? refuse('native_endpoint') : null
}

function refuseBody({ validate }: Pick<CollectionRoute, 'validate'>, { isCut, body }: RequestContent): Refusal | null {
  if (isCut) return refuse('body_too_large')
  return body === null ? refuse('invalid_json') : validate(body)
}

/**
 * The exchange with the body, as bytes, text and object as far as it is each of these; null if it did not come whole, which is
 * then recorded.
 */
export async function takeBody(req: Request, { recorder }: Pick<PipelineParts, 'recorder'>): Promise<Exchange | null> {
  const raw = req.arrivedBody ?? (await readBody(req, BODY))
  const isCut = raw.kind === 'aborted' || raw.isCut
  const text = decodeBody(raw.bytes)
  const encoded = isEncoded(req)
  const body = text === null || isCut || encoded ? null : parseStrictJson(text)
  const exchange = withContent(req, { bytes: raw.bytes, text, body, isCut, isEncoded: encoded })
  if (raw.kind === 'body') return exchange
  // Its body did not come in time, or broke HTTP's rules; or the client left.
  const refused = parserRefusal(req.socket)
  if (refused === undefined) recorder.note(exchange, 0, 'aborted')
  else recorder.note(exchange, ERRORS[refused].status, refused)
  return null
}

/** The sender's origin must be the website's. */
function checkSender(
  route: Pick<CollectionRoute, 'caller'>,
  { body, website, exchange }: Pick<CheckedRequest, 'body' | 'website' | 'exchange'>,
  parts: PipelineParts,
): CheckedRequest | Refusal {
  const origin = checkOrigin(route, exchange, website)
  if (typeof origin !== 'string') {
    if (exchange.origin !== null) void noteUnregisteredOrigin(website, exchange.origin, parts)
    return origin
  }
  return { kind: 'checked', exchange, body, website, origin }
}

/** Browsers must call from a registered origin; the hook must not be called from a browser at all. */
function checkOrigin(route: Pick<CollectionRoute, 'caller'>, exchange: Exchange, website: Website): string | Refusal {
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
    rememberHits(exchange, { hits, atMs })
    return null
  }
  const rule = hits[outcome.exceeded[0] ?? 0]?.rule ?? 'collection'
  if (outcome.isFirst) recorder.limitReached(website, rule)
  return refuse('rate_limited', { retryAfter: outcome.retryAfterS })
}
