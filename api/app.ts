/** The api as one Express application: every endpoint of the contract on one screen, then what holds for all. */

import express, { Router, type Express, type Request, type RequestHandler, type Response } from 'express'
import { refuse } from '../domain/errors.ts'
import { countedAddress } from './client-address.ts'
import type { ApiDeps } from './deps.ts'
import { openExchange } from './exchange.ts'
import { corsHeaders, preflight } from './origin-guard.ts'
import { collect, type CollectionRoute, type PipelineParts } from './pipeline.ts'
import { addressLimit } from './rate-limit.ts'
import { sendRefusal } from './reply.ts'
import { createRecorder } from './request-logs.ts'
import { eventsRoute } from './routes/events.ts'
import { handoffsRoute } from './routes/handoffs.ts'
import { health } from './routes/health.ts'
import { publicFiles } from './routes/files.ts'
import { browserConfig, reportScript } from './routes/reads.ts'
import { visitsActivateRoute } from './routes/visits-activate.ts'
import { visitsRoute } from './routes/visits.ts'
import { serveStatic } from './static-files.ts'

export function createApp(deps: ApiDeps): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.set('trust proxy', deps.options.trustProxy.length === 0 ? false : [...deps.options.trustProxy])
  app.set('query parser', false)
  const parts: PipelineParts = { deps, recorder: createRecorder(deps), addressHashOf: addressHasher(deps) }
  const files = publicFiles(deps.options)
  app.use(plainRequest(deps))
  app.use('/v1', collectionRouter(parts, files.hookBody))
  getRoute(app, '/health', health(deps), deps)
  for (const [path, file] of files.byPath) getRoute(app, path, serveStatic(file), deps)
  app.use(notFound(deps))
  app.use(lastResort(deps))
  return app
}

/** The stable collection endpoints, in the contract's order. */
function collectionRouter(parts: PipelineParts, hookBody: string): Router {
  const router = Router({ caseSensitive: true, strict: true })
  const limit = limitAddresses(parts)
  const post = (path: string, route: CollectionRoute): void => {
    router
      .route(path)
      .options(preflight(parts.deps.catalog, ['POST']))
      .post(limit, collect(route, parts))
      .all(wrongMethod(['POST', 'OPTIONS'], parts))
  }
  const get = (path: string, handler: RequestHandler): void => {
    router
      .route(path)
      .options(preflight(parts.deps.catalog, ['GET']))
      .get(limit, handler)
      .all(wrongMethod(['GET', 'HEAD', 'OPTIONS'], parts))
  }
  get('/projects/:website/browser-config', browserConfig(parts))
  post('/visits', visitsRoute(parts))
  post('/visits/activate', visitsActivateRoute(parts))
  post('/handoffs', handoffsRoute(parts))
  get('/projects/:website/paths/:path/report.sh', reportScript(parts, hookBody))
  get('/projects/:website/report.sh', reportScript(parts, hookBody))
  post('/events', eventsRoute(parts))
  return router
}

/** Not part of collection: metrics only, no record. */
function getRoute(app: Express, path: string, handler: RequestHandler, deps: ApiDeps): void {
  const counted: RequestHandler = (req, res, next) => {
    const startedMs = performance.now()
    res.on('finish', () => deps.metrics.answered(path, res.statusCode, '', (performance.now() - startedMs) / 1_000))
    return handler(req, res, next)
  }
  app
    .route(path)
    .get(counted)
    .all((_req, res) => {
      deps.metrics.answered(
        path,
        sendRefusal(res, refuse('method_not_allowed'), { Allow: 'GET, HEAD' }),
        'method_not_allowed',
        0,
      )
    })
}

function addressHasher(deps: ApiDeps): (req: Request) => string {
  const hasProxies = deps.options.trustProxy.length > 0
  const known = new WeakMap<Request, string>()
  return (req) => {
    const before = known.get(req)
    if (before !== undefined) return before
    const hash = deps.keys.addressHash(countedAddress(hasProxies ? req.ip : req.socket.remoteAddress), deps.nowMs())
    known.set(req, hash)
    return hash
  }
}

function limitAddresses({ deps, recorder, addressHashOf }: PipelineParts): RequestHandler {
  return addressLimit({
    hotState: deps.hotState,
    nowMs: deps.nowMs,
    addressHash: addressHashOf,
    onLimited: (req, res, hit) => {
      const exchange = openExchange(req, deps, addressHashOf(req))
      const refusal = refuse('rate_limited', { retryAfter: hit.retryAfterS })
      const status = sendRefusal(res, refusal, { ...corsHeaders(req, deps.catalog()), Connection: 'close' })
      recorder.note(exchange, status, refusal.code)
      deps.metrics.answered('/v1', status, refusal.code, 0)
    },
  })
}

function wrongMethod(allowed: readonly string[], { deps, recorder, addressHashOf }: PipelineParts): RequestHandler {
  return (req, res) => {
    const refusal = refuse('method_not_allowed')
    const headers = { ...corsHeaders(req, deps.catalog()), Allow: allowed.join(', ') }
    const status = sendRefusal(res, refusal, headers)
    recorder.note(openExchange(req, deps, addressHashOf(req)), status, refusal.code)
    deps.metrics.answered('/v1', status, refusal.code, 0)
  }
}

/** Refuses messages that two readers could take for two different requests. */
function plainRequest(deps: ApiDeps): RequestHandler {
  return (req, res, next) => {
    if (req.url.startsWith('/') && !hasRepeatedHead(req.rawHeaders)) {
      next()
      return
    }
    deps.metrics.answered(
      '',
      sendRefusal(res, refuse('invalid_request'), { Connection: 'close' }),
      'invalid_request',
      0,
    )
  }
}

const SINGLE_HEADERS: ReadonlySet<string> = new Set(['host', 'content-type', 'content-encoding', 'origin'])

function hasRepeatedHead(rawHeaders: readonly string[]): boolean {
  let seen = 0
  const names = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    if (!SINGLE_HEADERS.has(name)) continue
    seen++
    names.add(name)
  }
  return seen !== names.size
}

function notFound(deps: ApiDeps): RequestHandler {
  return (_req, res) => {
    deps.metrics.answered('', sendRefusal(res, refuse('not_found')), 'not_found', 0)
  }
}

/** What Express itself cannot read (a broken percent escape in a path) or what a handler threw. */
function lastResort(deps: ApiDeps): express.ErrorRequestHandler {
  return (error: unknown, _req, res: Response, next) => {
    if (res.headersSent) {
      next(error)
      return
    }
    const isBadPath = error instanceof URIError || statusOf(error) === 400
    if (!isBadPath) deps.logger.error({ err: error }, 'request failed')
    const refusal = refuse(isBadPath ? 'invalid_request' : 'internal')
    deps.metrics.answered('', sendRefusal(res, refusal), refusal.code, 0)
  }
}

function statusOf(error: unknown): number {
  return error instanceof Error && 'status' in error ? Number(error.status) : 0
}
