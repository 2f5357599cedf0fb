/**
 * The way of every request to the dashboard's API: route, method, own origin, session, limits, role, body, handler. One
 * answer comes out, and one line of the process log with the ID that the answer carries.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'

import { Outage } from '../../common/outage.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import type { Directory, DirectoryOrganization } from '../resources/directory.ts'
import type { ShareLink } from '../../domain/people/share-link.ts'
import { rolesOf } from '../../domain/people/standing.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { HitVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { timeOrderedId, type Stamps } from '../../runtime/random.ts'
import type { Session, Sessions } from '../sessions/sessions.ts'
import { readObject, readRawBody } from './body.ts'
import { isScoped, type Call, type Handler, type HandlerOutcome, type QueryValues } from './call.ts'
import { findScope, readCaller, type Caller } from './caller.ts'
import type { CookieRules } from './cookies.ts'
import { isOwnOrigin } from './own-origin.ts'
import { givingBack, hitsOf, refuseRequest, refuseUnknownPath } from './limits.ts'
import { parametersIn, readQuery } from './query.ts'
import type { DashboardMetrics } from './metrics.ts'
import { isLimit, limitIn, type RefusedRequest } from './refused.ts'
import { isShared, sendOutcome, sendStream } from './send.ts'
import { isOwnOriginOnly, isRead, mayBeAnswered } from './route.ts'
import { refusalsOf } from '../api/refusals.ts'
import type { RouteRow } from '../api/route.ts'
import { handlePlaced, ReadPlaces } from './places.ts'
import { createRouteTable, type RouteMatch } from './route-table.ts'
import { ClientGone, openUpload } from './upload.ts'

interface Route {
  readonly row: RouteRow
  readonly handle: Handler
}

interface ServeParts {
  readonly site: Site
  readonly sessions: Sessions
  readonly directory: Directory
  readonly hotState: HitVerbs
  readonly stamps: Stamps
  readonly observer: ServeObserver
}

/** How the service is addressed, and its callers are told apart. */
export interface Site {
  readonly baseUrl: string
  readonly cookies: CookieRules
  /** Keyed hash under the key of the day; nothing else sees the address itself. */
  readonly addressHashOf: (req: IncomingMessage) => string
}

/** Is told what becomes of requests. */
interface ServeObserver {
  readonly logger: Logger
  readonly answered: DashboardMetrics['answered']
  readonly sessionSeen: DashboardMetrics['sessionSeen']
  readonly limitReached: DashboardMetrics['limitReached']
  /** Records that a limit was reached in the activity of its organisation, for a rate in its Logs too; never waits. */
  readonly onLimit: (refused: RefusedRequest) => void
}

/** Answers a request if it knows the path, otherwise returns false and does nothing. */
export type Serve = (req: IncomingMessage, res: ServerResponse) => boolean

export function createServe(routes: readonly Route[], parts: ServeParts): Serve {
  const { stamps } = parts
  const findRoute = createRouteTable(routes)
  const places = new ReadPlaces()
  const ofPrograms = new Set(routes.filter(({ row }) => row.needs === 'Key').map(({ row }) => row.path))
  return (req, res) => {
    const [path, query] = dividedAddress(req.url ?? '/')
    if (!path.startsWith('/api/') && !isShared(path) && !ofPrograms.has(path)) return false
    const request: Requested = {
      req,
      query,
      found: findRoute(req.method, path),
      requestId: timeOrderedId(stamps.randomness, stamps.nowMs()),
    }
    void respond(request, res, parts, places)
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
  /** Not parsed yet. */
  readonly query: string
  readonly found: RouteMatch<Route>
  readonly requestId: string
}

interface Served extends Requested {
  /** Aborted as soon as the client is gone. */
  readonly signal: AbortSignal
}

async function respond(request: Requested, res: ServerResponse, parts: ServeParts, places: ReadPlaces): Promise<void> {
  const startedMs = performance.now()
  const { found, req } = request
  const { observer } = parts
  const { method = '' } = req
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  const failed = (error: unknown): HandlerOutcome | null => {
    // Its statement was ended since nobody waits for it any more; that is no failure.
    if (error instanceof ClientGone || (gone.signal.aborted && error === gone.signal.reason)) return null
    observer.logger.error({ err: error, request: request.requestId }, 'request of the dashboard failed')
    // While a store is unavailable it is unknown who is signed in and what they may do, so neither is claimed.
    return refuse(error instanceof Outage ? 'unavailable' : 'internal')
  }
  const served = { ...request, signal: gone.signal }
  const outcome = await givingBack(parts.hotState, parts.stamps.nowMs, () =>
    handleRequest(served, parts, places).catch(failed),
  )
  if (outcome === null) return
  const durationMs = performance.now() - startedMs
  noteUndeclared(request, outcome, observer.logger)
  if (outcome.kind === 'refused' && isLimit(outcome)) {
    observer.limitReached(limitIn(outcome))
    await note({ request, outcome, durationMs }, parts)
  }
  const headers = { 'X-Request-Id': request.requestId, ...ownHeaders(request, outcome) }
  const status =
    outcome.kind === 'stream'
      ? await sendStream(res, outcome, headers, { logger: observer.logger, directory: parts.directory })
      : sendOutcome(res, outcome, headers, parts.site.cookies)
  const route = 'route' in found ? found.route.row.path : ''
  const code = outcome.kind === 'refused' ? outcome.code : ''
  observer.answered({ route, status, code, seconds: durationMs / 1_000 })
  const ms = Math.round(performance.now() - startedMs)
  // The route's pattern, as the path itself may hold personal data.
  observer.logger[logLevelOf(method, route, status)](
    { request: request.requestId, method, route, status, code, ms },
    'dashboard',
  )
}

/** The methods of a path that has others, what a program lacks that shows no key, and that no search engine is to know of a link. */
function ownHeaders({ found, req }: Requested, outcome: HandlerOutcome) {
  const unlisted = isShared(req.url) ? NOT_LISTED : {}
  if ('allow' in found) return { Allow: found.allow, ...unlisted }
  const lacksKey = 'route' in found && found.route.row.needs === 'Key' && 'code' in outcome
  return lacksKey && outcome.code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : unlisted
}

const NOT_LISTED = { 'X-Robots-Tag': 'noindex, nofollow' } as const

/** The document of the API and the handlers agree; where they do not, whoever reads the process log learns of it. */
function noteUndeclared({ found, requestId }: Requested, outcome: HandlerOutcome, logger: Logger): void {
  if (!('route' in found) || outcome.kind !== 'refused' || refusalsOf(found.route.row).has(outcome.code)) return
  const { path: route } = found.route.row
  logger.error({ request: requestId, route, code: outcome.code }, 'a refusal that its route does not declare')
}

/** Changes and refusals are what somebody looks for afterwards; pages read all the time. */
function logLevelOf(method: string, route: string, status: number): 'info' | 'debug' {
  return route !== '' && (method !== 'GET' || status >= 400) ? 'info' : 'debug'
}

interface NotedRefusal {
  readonly request: Requested
  readonly outcome: Refusal
  readonly durationMs: number
}

/**
 * Only of an organisation that the person belongs to; requests of strangers belong to none. What names no organisation, such as `/api/me`, uses up
 * the person's windows for all of theirs.
 */
async function note({ request, outcome, durationMs }: NotedRefusal, parts: ServeParts): Promise<void> {
  const { found, req } = request
  if (!('route' in found)) return
  const { row } = found.route
  const caller = await readCaller(req, found, parts).catch(() => null)
  const session = caller?.session ?? null
  const organizations =
    session === null ? ofPass(caller, parts.directory) : organizationsOf(found, session, parts.directory)
  for (const organization of organizations) {
    parts.observer.onLimit({
      organization,
      req,
      route: row.path,
      outcome,
      durationMs: Math.round(durationMs),
      by: { person: session?.person ?? null, addressHash: parts.site.addressHashOf(req) },
    })
  }
}

/** The organisation of what is shown in place of a session. */
function ofPass(caller: Caller | null, directory: Directory): readonly DirectoryOrganization[] {
  const pass = caller?.key ?? caller?.link ?? null
  return pass === null ? [] : [directory.organizations().get(pass.organization) ?? []].flat()
}

function organizationsOf(
  { route: { row }, params }: FoundRoute,
  session: Session,
  directory: Directory,
): readonly DirectoryOrganization[] {
  if (params['organization'] === undefined) {
    const ids = [...rolesOf(session, directory.members()).keys()]
    return ids.flatMap((id) => directory.organizations().get(id) ?? [])
  }
  const scope = findScope(row, { params, session, key: null, link: null }, directory)
  return scope === null || 'code' in scope ? [] : [scope.organization]
}

/** Null if the client disconnected. */
async function handleRequest(request: Served, parts: ServeParts, places: ReadPlaces): Promise<HandlerOutcome | null> {
  const { found, req } = request
  if ('allow' in found) return refuse('method_not_allowed')
  if ('unknown' in found) return refuseUnknownPath(parts.site.addressHashOf(req), parts.hotState)
  const { row, handle } = found.route
  if (isOwnOriginOnly(row) && !isOwnOrigin(req.headers, parts.site.baseUrl, isRead(row))) return refuse('cross_origin')
  if (!mayBeAnswered(row, parts.directory.rightsAge())) return refuse('unavailable')
  const call = await readCall(request, found, parts)
  if (call === null || 'code' in call) return call
  if (!takesPlace(row) || !isScoped(call)) return handle(call)
  const findAgain = async () => {
    const caller = await readCaller(req, found, parts)
    return findScope(row, { params: found.params, ...caller }, parts.directory)
  }
  return handlePlaced(handle, call, { places, findAgain })
}

/** Whether it reads facts, as far as its declaration tells. The page of a link must not wait for what it shows. */
function takesPlace({ rate, rank }: RouteRow): boolean {
  return rate === 'read' || rate === 'key' || rank === 'link'
}

/** Counts and checks the request before anything that it brings is parsed. Null if the client disconnected. */
async function readCall(
  { req, query, requestId, signal }: Served,
  found: FoundRoute,
  parts: ServeParts,
): Promise<Call | Refusal | null> {
  const { headers } = req
  const { row } = found.route
  const caller = await readCaller(req, found, parts)
  const { session, key, link } = caller
  if (session !== null) parts.observer.sessionSeen(session.id)
  const addressHash = parts.site.addressHashOf(req)
  const limited = await refuseRequest(
    hitsOf(row, { session, addressHash, passHash: (key ?? link)?.hash ?? null }),
    parts.hotState,
  )
  if (limited !== null) return limited
  const scope = findScope(row, { params: found.params, ...caller }, parts.directory)
  if (scope !== null && 'code' in scope) return scope
  const contents = await readContents(req, { query, row })
  if (contents === null || contents.kind === 'refused') return contents
  return {
    requestId,
    nowMs: parts.stamps.nowMs(),
    body: contents.body,
    ...askedBy(found, link, contents.query),
    search: contents.search,
    raw: contents.raw,
    addressHash,
    rank: row.rank ?? 'page',
    session,
    scope,
    signal,
    isHead: req.method === 'HEAD',
    wantsCsv: row.hasCsv === true && acceptsCsvAlone(headers.accept),
    browser: parts.site.cookies.read(headers.cookie, 'browser'),
    attempts: parts.site.cookies.readAttempts(headers.cookie),
    ifMatch: entityTagIn(headers['if-match']),
  }
}

type FoundRoute = Extract<RouteMatch<Route>, { readonly route: Route }>

/** What a link shows takes the place of the query; its token goes no further than here. */
function askedBy({ params }: FoundRoute, link: ShareLink | null, query: QueryValues) {
  return link === null ? { params, query } : { params: {}, query: { ...link.report } }
}

interface Contents {
  readonly kind: 'contents'
  readonly body: Call['body']
  readonly query: Call['query']
  readonly search: Call['search']
  readonly raw: Call['raw']
}

/** In the form that the route declares. Null if the client disconnected. */
async function readContents(
  req: IncomingMessage,
  { query: text, row }: { readonly query: string; readonly row: RouteRow },
): Promise<Contents | Refusal | null> {
  const search = parametersIn(text)
  if ('code' in search) return search
  const body = await readBodyOf(req, row)
  if (body === null || body.kind === 'refused') return body
  const raw = row.rate === 'signed' ? await readRawBody(req) : null
  if (raw?.kind === 'refused') return raw
  const query = readQuery(search, row)
  if (query.kind === 'refused') return query
  const signed = raw === null ? null : { body: raw.body, signature: String(req.headers['stripe-signature'] ?? '') }
  return { kind: 'contents', body: body.value, query: query.value, search, raw: signed }
}

/** Null if the client disconnected. */
async function readBodyOf(req: IncomingMessage, { body, upload }: RouteRow) {
  if (upload !== undefined) return openUpload(req, upload)
  return body === undefined ? EMPTY : readObject(req, body)
}

/** What is not said otherwise is JSON. */
function acceptsCsvAlone(accept = ''): boolean {
  const types = accept.split(',', LIMITS.headerParts).map((each) => each.split(';', 1)[0]?.trim().toLowerCase())
  return types.includes('text/csv') && !types.includes('application/json')
}

/** In the form of our own ETags; anything else names no version. */
function entityTagIn(header: string | undefined): string | null {
  return /^(?:W\/)?"([\w-]{1,128})"$/.exec(header ?? '')?.[1] ?? null
}

const EMPTY = { kind: 'object', value: {} } as const
