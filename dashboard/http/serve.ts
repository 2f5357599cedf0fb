/**
 * The way of every request to the dashboard's API: route, method, own origin, session, limits, role, body, handler. One
 * answer comes out, and one line of the process log with the ID that the answer carries.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { ERRORS, refuse, type Refusal } from '../../domain/errors.ts'
import type { Directory } from '../resources/directory.ts'
import { roleIn } from '../../domain/people/standing.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import { PROBLEM_HEADERS, problemPage, wantsPage } from '../pages/problem-page.ts'
import type { Session, Sessions } from '../sessions/sessions.ts'
import { readObject, readRawBody } from './body.ts'
import type { Answer, Call, Handler, HandlerOutcome, OrganizationScope, StreamAnswer, WrittenAnswer } from './call.ts'
import { cookieRules, type CookieRules } from './cookies.ts'
import { isOwnOrigin } from './own-origin.ts'
import { hitsOf, refuseByRate } from './limits.ts'
import { readQuery } from './query.ts'
import type { DashboardMetrics } from './metrics.ts'
import { isLimit, limitIn, type RefusedRequest } from './refused.ts'
import { isOwnOriginOnly, isRead, matchPath, mayBeAnswered, type RouteRow } from './route.ts'
import { watchRight } from './watch-right.ts'

interface Route {
  readonly row: RouteRow
  readonly handle: Handler
}

export interface ServeParts {
  readonly routes: readonly Route[]
  readonly baseUrl: string
  readonly sessions: Sessions
  readonly directory: Directory
  readonly hotState: Pick<HotState, 'countHits'>
  /** Keyed hash under the key of the day; nothing else sees the address itself. */
  readonly addressHashOf: (req: IncomingMessage) => string
  readonly randomness: Randomness
  readonly nowMs: () => number
  readonly logger: Logger
  /** Records that a limit was reached in the activity of its organisation, for a rate in its Logs too; never waits. */
  readonly onLimit: (refused: RefusedRequest) => void
  readonly metrics: Pick<DashboardMetrics, 'answered' | 'limitReached' | 'sessionSeen'>
}

/** Answers a request if it knows the path, otherwise returns false and does nothing. */
export type Serve = (req: IncomingMessage, res: ServerResponse) => boolean

export function createServe(parts: ServeParts): Serve {
  const cookies = cookieRules(parts.baseUrl)
  return (req, res) => {
    const [path, query] = dividedAddress(req.url ?? '/')
    if (!path.startsWith('/api/')) return false
    const request: Requested = {
      req,
      path,
      query: new URLSearchParams(query),
      requestId: timeOrderedId(parts.randomness, parts.nowMs()),
    }
    void respond(request, res, { ...parts, cookies })
    return true
  }
}

/** A query may have question marks of its own. */
function dividedAddress(url: string): readonly [path: string, query: string] {
  const mark = url.indexOf('?')
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

interface Requested {
  readonly req: IncomingMessage
  readonly path: string
  readonly query: URLSearchParams
  readonly requestId: string
}

interface Served extends Requested {
  /** Aborted as soon as the client is gone. */
  readonly signal: AbortSignal
}

type ServingParts = ServeParts & { readonly cookies: CookieRules }

async function respond(request: Requested, res: ServerResponse, parts: ServingParts): Promise<void> {
  const startedMs = performance.now()
  const { method = '' } = request.req
  const found = findRoute(request, parts.routes)
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  const outcome = await handleRequest({ ...request, signal: gone.signal }, found, parts).catch(
    (error: unknown): HandlerOutcome | null => {
      // Its statement was ended since nobody waits for it any more; that is no failure.
      if (gone.signal.aborted && error === gone.signal.reason) return null
      parts.logger.error({ err: error, request: request.requestId }, 'request of the dashboard failed')
      // While a store is unavailable it is unknown who is signed in and what they may do, so neither is claimed.
      return refuse(isStoreAway(error) ? 'unavailable' : 'internal')
    },
  )
  if (outcome === null) return
  const durationMs = performance.now() - startedMs
  if (outcome.kind === 'refused' && isLimit(outcome)) {
    parts.metrics.limitReached(limitIn(outcome))
    await note({ request, found, outcome, durationMs }, parts)
  }
  const allow = 'allow' in found ? { Allow: found.allow } : {}
  const headers = { 'X-Request-Id': request.requestId, ...allow }
  const status =
    outcome.kind === 'stream'
      ? await sendStream(res, outcome, headers, parts)
      : sendOutcome(res, outcome, headers, parts.cookies)
  const route = 'route' in found ? found.route.row.path : ''
  const code = outcome.kind === 'refused' ? outcome.code : ''
  parts.metrics.answered({ route, status, code, seconds: durationMs / 1_000 })
  const ms = Math.round(performance.now() - startedMs)
  // The route's pattern, as the path itself may hold personal data.
  parts.logger[logLevelOf(method, route, status)](
    { request: request.requestId, method, route, status, code, ms },
    'dashboard',
  )
}

/** Changes and refusals are what somebody looks for afterwards; pages read all the time. */
function logLevelOf(method: string, route: string, status: number): 'info' | 'debug' {
  return route !== '' && (method !== 'GET' || status >= 400) ? 'info' : 'debug'
}

interface NotedRefusal {
  readonly request: Requested
  readonly found: RouteMatch
  readonly outcome: Refusal
  readonly durationMs: number
}

/** Only of an organisation that the person belongs to; requests of strangers belong to none. */
async function note({ request, found, outcome, durationMs }: NotedRefusal, parts: ServingParts): Promise<void> {
  if (!('route' in found) || found.params['organization'] === undefined) return
  const { req } = request
  const session = await readSession(req.headers.cookie, parts).catch(() => null)
  const { row } = found.route
  const scope = findScope(row, { params: found.params, session }, parts.directory)
  if (scope === null || 'code' in scope) return
  const { organization } = scope
  parts.onLimit({
    ...{ organization, req, route: row.path, outcome, durationMs: Math.round(durationMs) },
    actor: session?.person ?? null,
    addressHash: parts.addressHashOf(req),
  })
}

function isStoreAway(error: unknown): boolean {
  return (
    error instanceof Error &&
    ['RedisUnavailable', 'LogUnavailable', 'FactsUnavailable', 'PaymentsUnavailable', 'ResourcesUnavailable'].includes(
      error.name,
    )
  )
}

type RouteMatch =
  | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
  /** The methods of the path. */
  | { readonly allow: string }
  | { readonly unknown: true }

function findRoute({ req, path }: Requested, routes: readonly Route[]): RouteMatch {
  const here = routes.flatMap((route) => {
    const params = matchPath(route.row.path, path)
    return params === null ? [] : [{ route, params }]
  })
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const found = here.find(({ route }) => route.row.method === method)
  if (found !== undefined) return found
  if (here.length === 0) return { unknown: true }
  const methods = here.map(({ route }) => route.row.method)
  return { allow: [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ') }
}

/** Null if the client disconnected. */
async function handleRequest(request: Served, found: RouteMatch, parts: ServingParts): Promise<HandlerOutcome | null> {
  if ('allow' in found) return refuse('method_not_allowed')
  if ('unknown' in found) return refuse('not_found')
  const { route, params } = found
  const { row } = route
  const { headers } = request.req
  if (isOwnOriginOnly(row) && !isOwnOrigin(headers, parts.baseUrl, isRead(row))) return refuse('cross_origin')
  if (!mayBeAnswered(row, parts.directory.rightsAge())) return refuse('unavailable')
  const session = await readSession(headers.cookie, parts)
  if (session !== null) parts.metrics.sessionSeen(session.id)
  const addressHash = parts.addressHashOf(request.req)
  const limited = await refuseByRate(hitsOf(row, { session, addressHash }), parts.hotState)
  if (limited !== null) return limited
  const scope = findScope(row, { params, session }, parts.directory)
  if (scope !== null && 'code' in scope) return scope
  const contents = await readContents(request, row)
  if (contents === null || contents.kind === 'refused') return contents
  const call: Call = {
    requestId: request.requestId,
    nowMs: parts.nowMs(),
    ...{ params, query: request.query, ...contents.values, addressHash, session, scope },
    isHead: request.req.method === 'HEAD',
    signal: request.signal,
    browser: parts.cookies.read(headers.cookie, 'browser'),
    ifMatch: entityTagIn(headers['if-match']),
  }
  return route.handle(call)
}

interface Contents {
  readonly kind: 'contents'
  readonly values: Pick<Call, 'body' | 'queryValues' | 'raw'>
}

/** In the form that the route declares. Null if the client disconnected. */
async function readContents({ req, query: given }: Served, row: RouteRow): Promise<Contents | Refusal | null> {
  const body = row.body === undefined ? EMPTY : await readObject(req, row.body)
  if (body === null || body.kind === 'refused') return body
  const raw = row.rate === 'signed' ? await readRawBody(req) : null
  if (raw?.kind === 'refused') return raw
  const query = readQuery(given, row)
  if (query.kind === 'refused') return query
  const signed = raw === null ? null : { body: raw.body, signature: String(req.headers['stripe-signature'] ?? '') }
  return { kind: 'contents', values: { body: body.value, queryValues: query.value, raw: signed } }
}

async function readSession(cookies: string | undefined, parts: ServingParts): Promise<Session | null> {
  const cookie = parts.cookies.read(cookies, 'session')
  return cookie === null ? null : parts.sessions.read(cookie)
}

/** In the form of our own ETags; anything else names no version. */
function entityTagIn(header: string | undefined): string | null {
  return /^(?:W\/)?"([\w-]{1,128})"$/.exec(header ?? '')?.[1] ?? null
}

const EMPTY = { kind: 'object', value: {} } as const

/** An organisation that the person does not belong to is answered as one that does not exist. */
function findScope(
  { needs }: RouteRow,
  { params, session }: { readonly params: Readonly<Record<string, string>>; readonly session: Session | null },
  directory: Directory,
): OrganizationScope | Refusal | null {
  if (needs === null) return null
  if (session === null) return refuse('unauthenticated')
  if (needs === 'Person') return null
  const id = params['organization'] ?? ''
  const role = roleIn(id, session, directory.members())
  const organization = directory.organizations().get(id)
  if (role === null || organization === undefined) return refuse('not_found')
  return isAtLeast(role, needs) ? { organization, role } : refuse('forbidden')
}

const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
} as const

interface OwnHeaders {
  readonly 'X-Request-Id': string
  readonly Allow?: string
}

/** Resolves once everything is sent or the client is gone. */
async function sendStream(
  res: ServerResponse,
  { contentType, headers: own, chunks, mayGoOn, onEnd }: StreamAnswer,
  headers: OwnHeaders,
  { logger, directory }: Pick<ServeParts, 'logger' | 'directory'>,
): Promise<number> {
  res.writeHead(200, { ...COMMON_HEADERS, ...headers, ...own, 'Content-Type': contentType })
  if (res.req.method === 'HEAD') res.end()
  else if (!res.destroyed) {
    res.flushHeaders()
    // Prepares at most one chunk ahead: a client that does not read causes no work.
    const watch = watchRight(mayGoOn, directory)
    await pipeline(Readable.from(chunks, { highWaterMark: 1 }), res, { signal: watch.ended }).catch(
      (error: unknown) => {
        const reason: unknown = watch.ended.aborted ? watch.ended.reason : error
        // The client has left by itself.
        if ((reason as { readonly code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE') return
        logger.error({ err: reason, request: headers['X-Request-Id'] }, 'an answer of the dashboard was cut off')
      },
    )
    watch.stop()
  }
  onEnd?.()
  return 200
}

function sendOutcome(
  res: ServerResponse,
  outcome: Exclude<HandlerOutcome, StreamAnswer>,
  headers: OwnHeaders,
  cookies: CookieRules,
): number {
  const { status, json, more } = outcome.kind === 'refused' ? refusalParts(outcome, res) : answerParts(outcome, cookies)
  const isPage = outcome.kind === 'refused' && wantsPage(res.req)
  const text = isPage ? problemPage({ code: outcome.code, requestId: headers['X-Request-Id'] }) : (json ?? '')
  const type = isPage ? PROBLEM_HEADERS : json === undefined ? {} : JSON_TYPE
  res.writeHead(status, { ...COMMON_HEADERS, ...headers, ...more, ...type, 'Content-Length': Buffer.byteLength(text) })
  res.end(res.req.method === 'HEAD' ? undefined : text)
  return status
}

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' }

interface SentParts {
  readonly status: number
  /** The body; undefined if there is none. */
  readonly json: string | Uint8Array | undefined
  readonly more: Readonly<Record<string, string | string[]>>
}

function refusalParts({ code, extra }: Refusal, res: ServerResponse): SentParts {
  const retry = code === 'rate_limited' ? { 'Retry-After': String(Number(extra?.['retryAfter'] ?? 1)) } : {}
  // An unread body would otherwise be taken for the next request.
  const connection = res.req.complete ? {} : { Connection: 'close' }
  const json = JSON.stringify({ error: code, ...extra })
  return { status: ERRORS[code].status, json, more: { ...retry, ...connection } }
}

function answerParts(outcome: Answer | WrittenAnswer, cookies: CookieRules): SentParts {
  const { status, location, etag } = outcome
  const lines = cookieLines(outcome, cookies)
  const target = location === undefined ? {} : { Location: location }
  const version = etag === undefined ? {} : { ETag: `"${etag}"` }
  const json =
    outcome.kind === 'written' ? outcome.json : outcome.body === undefined ? undefined : JSON.stringify(outcome.body)
  return { status, json, more: { ...target, ...version, ...(lines.length === 0 ? {} : { 'Set-Cookie': lines }) } }
}

function cookieLines({ cookies = {} }: Pick<Answer, 'cookies'>, rules: CookieRules): string[] {
  return (['session', 'browser'] as const).flatMap((name) => {
    const change = cookies[name]
    return change === undefined ? [] : [rules.write(name, change)]
  })
}
