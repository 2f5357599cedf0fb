/**
 * The api as one Express application: every endpoint of the contract on one screen, followed by what applies to all of
 * them.
 */

import express, { type Express, type RequestHandler } from 'express'
import { refuse } from '../domain/errors.ts'
import { addressHit, toldHit } from '../domain/collection/rate.ts'
import type { ApiDeps } from './deps.ts'
import { exchangeOf, opener, rememberHits, type Exchange } from './collection/exchange.ts'
import { inStep } from './http/in-step.ts'
import { preflight } from './http/origin-guard.ts'
import {
  collectionHandler,
  receive,
  sendRefused,
  takeBody,
  type CheckedRequest,
  type CollectionRoute,
  type PipelineParts,
} from './collection/pipeline.ts'
import { ownerOf } from './collection/owner.ts'
import { addressLimit } from './http/rate-limit.ts'
import { lastResort, notFound, plainRequest, wrongMethod } from './collection/refusals.ts'
import { sendRefusal } from './http/reply.ts'
import { createRecorder } from './collection/request-logs.ts'
import { eventsRoute } from './routes/events.ts'
import { publicFiles } from './routes/files.ts'
import { handoffsRoute } from './routes/handoffs.ts'
import { health } from './routes/health.ts'
import { browserConfig, reportScript, websiteOrigins } from './routes/reads.ts'
import { visitsActivateRoute } from './routes/visits-activate.ts'
import { visitsRoute } from './routes/visits.ts'
import { serveStatic } from './static-files.ts'

export function createApp(deps: ApiDeps): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.enable('case sensitive routing').enable('strict routing')
  app.set('query parser', false)
  // Debugging output of libraries prints it. Clients are counted by a keyed hash (exchange.ts).
  Object.defineProperty(app.request, 'ip', { value: undefined })
  const parts: PipelineParts = { deps, recorder: createRecorder(deps) }
  const files = publicFiles(deps.options)
  app.use(plainRequest(parts))
  collectionRoutes(app, parts, files.hookBody)
  getRoute(app, '/health', health(deps), deps)
  for (const [path, file] of files.byPath) getRoute(app, path, serveStatic(file), deps)
  const { beside } = deps
  if (beside !== undefined) app.use((req, res, next) => (beside(req, res) ? undefined : next()))
  app.use(notFound(deps))
  app.use(lastResort(parts))
  return app
}

/** The stable collection endpoints, the busiest first: the router tries them in order. */
function collectionRoutes(app: Express, parts: PipelineParts, hookBody: string): void {
  const open = opener(parts.deps)
  const limit = limitAddresses(parts)
  const step = inStep()
  const post = <Checked extends CheckedRequest>(path: string, route: CollectionRoute<Checked>): void => {
    app
      .route(`/v1${path}`)
      .options(preflight(parts.deps.catalog, ['POST']))
      .post(open, receive, step, limit, collectionHandler(route, parts))
      .all(open, wrongMethod(['POST', 'OPTIONS'], parts))
  }
  const get = (path: string, handler: RequestHandler): void => {
    app
      .route(`/v1${path}`)
      .options(preflight(parts.deps.catalog, ['GET', 'HEAD']))
      .get(open, limit, handler)
      .all(open, wrongMethod(['GET', 'HEAD', 'OPTIONS'], parts))
  }
  post('/visits', visitsRoute(parts))
  post('/events', eventsRoute(parts))
  post('/visits/activate', visitsActivateRoute(parts))
  post('/handoffs', handoffsRoute(parts))
  get('/projects/:website/browser-config', browserConfig(parts))
  get('/projects/:website/origins', websiteOrigins(parts))
  get('/projects/:website/paths/:path/report.sh', reportScript(parts, hookBody))
  get('/projects/:website/report.sh', reportScript(parts, hookBody))
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
      const status = sendRefusal(res, refuse('method_not_allowed'), { Allow: 'GET, HEAD' })
      deps.metrics.answered(path, status, 'method_not_allowed', 0)
    })
}

function limitAddresses(parts: PipelineParts): RequestHandler {
  const { deps } = parts
  return addressLimit({
    hotState: deps.hotState,
    nowMs: deps.nowMs,
    addressHash: (req) => {
      const exchange = exchangeOf(req)
      rememberHits(exchange, { hits: [addressHit(exchange.addressHash)], atMs: deps.nowMs() })
      return exchange.addressHash
    },
    onLimited: async (req, res, retryAfterS) => {
      // Read for the record, and so that the connection can stay open: a proxy may share it among many clients.
      const exchange = await takeBody(req, parts)
      if (exchange === null) return
      await tellOfLimit(exchange, parts)
      sendRefused({ req, res, exchange, refusal: refuse('rate_limited', { retryAfter: retryAfterS }) }, parts)
    },
  })
}

/** One activity entry per organisation and window for an address over its limit. */
async function tellOfLimit(exchange: Exchange, { deps, recorder }: PipelineParts): Promise<void> {
  const website = ownerOf(exchange, deps)
  if (website === null) return
  const outcome = await deps.hotState.countHits([toldHit(website.organization.id, exchange.addressHash)])
  if (outcome.kind === 'counted') recorder.limitReached(website, 'collection')
}
