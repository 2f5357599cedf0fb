/** The GET endpoints of a website: what the SDK reads at start, and the hook for an installer. */

import { createHash } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { AnswerNamed } from '../openapi/schemas.ts'
import { boundedParts } from '../../common/bounded-parts.ts'
import type { Website } from '../../domain/catalog.ts'
import { refuse, type ErrorCode } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { renderHookScript } from '../../domain/collection/hook-script.ts'
import type { ApiDeps } from '../deps.ts'
import { exchangeOf, secondsSince, type Exchange } from '../collection/exchange.ts'
import { corsHeaders } from '../http/origin-guard.ts'
import { findWebsite } from '../collection/owner.ts'
import { routeNameOf, type PipelineParts } from '../collection/pipeline.ts'
import { sendRefusal, sendText, type Headers } from '../http/reply.ts'
import { noteUnregisteredOrigin } from '../collection/unregistered-origin.ts'

const CONFIG_CACHE = 'public, max-age=60'
const ORIGINS_CACHE = 'public, max-age=300'
const SCRIPT_CACHE = 'public, max-age=300'

interface ReadRequest {
  readonly exchange: Exchange
  readonly website: Website
  readonly req: Request
  readonly res: Response
}

/** `GET /v1/projects/{website}/browser-config` */
export function browserConfig(parts: PipelineParts): RequestHandler {
  return readRoute(parts, (read) => {
    const { website, exchange } = read
    // The page may not read the answer, so its SDK stops here.
    const { origin } = exchange
    if (origin !== null && !website.origins.has(origin)) void noteUnregisteredOrigin(website, origin, parts)
    const config: AnswerNamed<'BrowserConfig'> = {
      measurementIds: website.measurementIds.slice(0, LIMITS.measurementIdsPerVisit),
      providers: [...website.providers],
    }
    return sendJsonRead(read, { body: config, cacheControl: CONFIG_CACHE }, parts.deps)
  })
}

/** `GET /v1/projects/{website}/origins`: what the SDK needs to carry a landing to the website's other origins. */
export function websiteOrigins(parts: PipelineParts): RequestHandler {
  return readRoute(parts, (read) => {
    const { origins, ignoredReferrers, crossOrigin } = read.website
    const body: AnswerNamed<'Origins'> = { origins: [...origins], ignoredReferrers: [...ignoredReferrers], crossOrigin }
    return sendJsonRead(read, { body, cacheControl: ORIGINS_CACHE }, parts.deps)
  })
}

/** `GET /v1/projects/{website}/report.sh` and the form that names an install path. */
export function reportScript(parts: PipelineParts, hookBody: string): RequestHandler {
  const { deps } = parts
  return readRoute(parts, (read) => {
    const { website, req } = read
    const path = typeof req.params['path'] === 'string' ? req.params['path'] : null
    const isKnown = path === null || website.organization.installPaths.some(({ id }) => id === path)
    if (!isKnown) return refuseRead(read, 'install_path_not_found', deps)
    const text = renderHookScript(hookBody, {
      website: website.id,
      path,
      origins: [...website.origins],
      scan: website.hookScan,
      baseUrl: deps.options.site.baseUrl,
      brand: deps.options.site.brand,
    })
    return sendRead(read, {
      type: 'text/x-shellscript; charset=utf-8',
      text,
      headers: { 'Cache-Control': SCRIPT_CACHE },
    })
  })
}

/** Finds the website, calls `answer` for the rest, and logs the read without waiting for the log. */
function readRoute(
  { deps, recorder }: PipelineParts,
  answer: (read: ReadRequest) => { readonly status: number; readonly code: ErrorCode | '' },
): RequestHandler {
  return (req, res) => {
    const exchange = exchangeOf(req)
    const website = findWebsite(req.params['website'], deps)
    const read = { exchange, req, res }
    const { status, code } =
      website === null ? refuseRead(read, 'website_not_found', deps) : answer({ ...read, website })
    recorder.note(exchange, status, code)
    deps.metrics.answered(routeNameOf(req), status, code, secondsSince(exchange))
  }
}

function refuseRead(
  { req, res }: Pick<ReadRequest, 'req' | 'res'>,
  code: ErrorCode,
  deps: ApiDeps,
): { readonly status: number; readonly code: ErrorCode } {
  return { status: sendRefusal(res, refuse(code), corsHeaders(req, deps.catalog())), code }
}

/** JSON that pages of registered origins may read. */
function sendJsonRead(
  read: ReadRequest,
  { body, cacheControl }: { readonly body: object; readonly cacheControl: string },
  deps: ApiDeps,
): { readonly status: number; readonly code: '' } {
  const headers = { ...corsHeaders(read.req, deps.catalog()), 'Cache-Control': cacheControl }
  return sendRead(read, { type: 'application/json; charset=utf-8', text: JSON.stringify(body), headers })
}

function sendRead(
  { req, res }: ReadRequest,
  answer: { readonly type: string; readonly text: string; readonly headers: Headers },
): { readonly status: number; readonly code: '' } {
  return { status: sendTagged(req, res, answer), code: '' }
}

/** Sends text with a strong ETag, or 304 if the client has it already. Returns the status. */
function sendTagged(
  req: Request,
  res: Response,
  answer: { readonly type: string; readonly text: string; readonly headers: Headers; readonly etag?: string },
): number {
  const etag = answer.etag ?? etagOf(answer.text)
  const headers = { ...answer.headers, ETag: etag }
  const tags = boundedParts(req.headers['if-none-match'] ?? '', ',', LIMITS.headerParts) ?? []
  const known = tags.map((tag) => tag.replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) {
    res.writeHead(304, headers)
    res.end()
    return 304
  }
  sendText(res, { status: 200, type: answer.type, text: answer.text, headers })
  return 200
}

function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`
}
