/** Answers to requests that reach no endpoint: ambiguous messages, unknown addresses, wrong methods, faults. */

import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { ERRORS, refuse, type ErrorCode } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { unknownPathHit } from '../../domain/collection/rate.ts'
import { takeOriginForm } from '../http/absolute-form.ts'
import { addressReader } from '../http/client-address.ts'
import type { ApiDeps } from '../deps.ts'
import { exchangeOf, opener } from './exchange.ts'
import { sendRefused, takeBody, type PipelineParts } from './pipeline.ts'
import { sendRefusal, type Headers } from '../http/reply.ts'

/** Node silently drops header lines past its limit; ours is lower: a 431. */
export const HEADER_LINES_MAX = 64
const SINGLE_HEADERS = ['host', 'content-type', 'content-encoding', 'origin'] as const
/** Prefix of the collection endpoints. */
const COLLECTION = '/v1/'
const CLOSE: Headers = { Connection: 'close' }

/** Refuses messages that two readers could parse as two different requests. */
export function plainRequest(parts: PipelineParts): RequestHandler {
  const refuseIt = refuser(parts)
  const { baseUrl } = parts.deps.options.site
  return (req, res, next) => {
    takeOriginForm(req, baseUrl)
    const code = findAmbiguity(req)
    if (code === null) next()
    else refuseIt(req, res, code)
  }
}

/**
 * Answers with a code and ends the connection, because what follows on it cannot be trusted. A request for a collection
 * endpoint is recorded; its body is not read.
 */
function refuser({ deps, recorder }: PipelineParts): (req: Request, res: Response, code: ErrorCode) => void {
  const open = opener(deps)
  return (req, res, code) => {
    sendCode(res, code, deps, CLOSE)
    if (!req.originalUrl.startsWith(COLLECTION)) return
    open(req, res, () => undefined)
    const exchange = exchangeOf(req)
    recorder.note(exchange, ERRORS[code].status, code)
  }
}

function findAmbiguity(req: Request): ErrorCode | null {
  if (req.rawHeaders.length > HEADER_LINES_MAX * 2) return 'headers_too_large'
  return isPlainTarget(req) && hasHost(req) && !hasRepeatedHead(req.rawHeaders) ? null : 'invalid_request'
}

/** A path of this service in HTTP 1.0 or 1.1: the parser also accepts 2.0 and absolute addresses. */
function isPlainTarget({ url, httpVersion }: Request): boolean {
  return url.startsWith('/') && !url.includes('#') && (httpVersion === '1.1' || httpVersion === '1.0')
}

function hasHost({ headers, httpVersion }: Request): boolean {
  return headers.host !== undefined || httpVersion === '1.0'
}

function hasRepeatedHead(rawHeaders: readonly string[]): boolean {
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const bit = bitOf(rawHeaders[index] ?? '')
    if ((seen & bit) !== 0) return true
    seen |= bit
  }
  return false
}

/** A separate bit for each header that may occur only once, ignoring case; 0 for all others. */
function bitOf(name: string): number {
  for (let index = 0; index < SINGLE_HEADERS.length; index++) {
    const single = SINGLE_HEADERS[index]
    // Nearly all others differ in length, which is cheaper to compare.
    if (name.length === single?.length && name.toLowerCase() === single) return 1 << index
  }
  return 0
}

/** `405` of a collection endpoint, with a record in Logs. */
export function wrongMethod(allowed: readonly string[], parts: PipelineParts): RequestHandler {
  const allow: Headers = { Allow: allowed.join(', ') }
  const refusal = refuse('method_not_allowed')
  return async (req, res) => {
    const exchange = await takeBody(req, parts)
    if (exchange === null) return
    sendRefused({ req, res, exchange, refusal, headers: allow }, parts)
  }
}

/** Counted in a window of its own; not counted while the hot state is unavailable. */
export function notFound(deps: ApiDeps): RequestHandler {
  const addressOf = addressReader(deps.options.trustProxy)
  return async (req, res) => {
    const addressHash = deps.keys.addressHash(addressOf(req), deps.nowMs())
    const counted = await deps.hotState.countHits([unknownPathHit(addressHash)]).catch(() => null)
    const refusal =
      counted?.kind === 'exceeded' ? refuse('rate_limited', { retryAfter: counted.retryAfterS }) : refuse('not_found')
    deps.metrics.answered('', sendRefusal(res, refusal, closeIfLarge(req)), refusal.code, 0)
  }
}

/** Errors of Express itself (a broken percent escape in a path) and exceptions of handlers. */
export function lastResort(parts: PipelineParts): ErrorRequestHandler {
  const { deps } = parts
  const refuseIt = refuser(parts)
  return (error: unknown, req, res: Response, next) => {
    if (res.headersSent) {
      next(error)
      return
    }
    const isBadPath = error instanceof URIError || httpStatusOf(error) === 400
    if (isBadPath) return refuseIt(req, res, 'invalid_request')
    deps.logger.error({ err: error }, 'request failed')
    sendCode(res, 'internal', deps, closeIfLarge(req))
  }
}

/** An unread body, not known to be small, must not be waited for either. */
function closeIfLarge({ headers }: Request): Headers {
  const isKnownSmall =
    headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= LIMITS.bodyBytes
  return isKnownSmall ? {} : CLOSE
}

function sendCode(res: Response, code: ErrorCode, deps: ApiDeps, headers: Headers): void {
  deps.metrics.answered('', sendRefusal(res, refuse(code), headers), code, 0)
}

function httpStatusOf(error: unknown): number {
  return error instanceof Error && 'status' in error ? Number(error.status) : 0
}
