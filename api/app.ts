/** The api as one Express application: every endpoint of the contract on one screen, then what holds for all. */

import express, { Router, type Express, type Request, type RequestHandler } from 'express'
import { refuse } from '../domain/errors.ts'
import { countedAddress } from './client-address.ts'
import type { ApiDeps } from './deps.ts'
import { openExchange } from './exchange.ts'
import { preflight } from './origin-guard.ts'
import { collect, findWebsite, sendRefused, takeBody, type CollectionRoute, type PipelineParts } from './pipeline.ts'
import { addressLimit } from './rate-limit.ts'
import { lastResort, notFound, plainRequest, wrongMethod } from './refusals.ts'
import { sendRefusal } from './reply.ts'
import { createRecorder } from './request-logs.ts'
import { eventsRoute } from './routes/events.ts'
import { publicFiles } from './routes/files.ts'
import { handoffsRoute } from './routes/handoffs.ts'
import { health } from './routes/health.ts'
import { browserConfig, reportScript } from './routes/reads.ts'
import { visitsActivateRoute } from './routes/visits-activate.ts'
import { visitsRoute } from './routes/visits.ts'
import { serveStatic } from './static-files.ts'

/** Addresses of proxies that are remembered; an installation has a handful. */
const PROXIES_MAX = 1_000

export function createApp(deps: ApiDeps): Express {
  const app = express()
  app.disable('x-powered-by').disable('etag')
  app.enable('case sensitive routing').enable('strict routing')
  app.set('trust proxy', deps.options.trustProxy.length === 0 ? false : [...deps.options.trustProxy])
  app.set('trust proxy', remembering(app.get('trust proxy fn') as TrustProxy))
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

type TrustProxy = (address: string, hops: number) => boolean

/** Most requests come over the same few proxies, and comparing an address with networks is not cheap. */
function remembering(isTrusted: TrustProxy): TrustProxy {
  const proxies = new Set<string>()
  return (address, hops) => {
    if (proxies.has(address)) return true
    const isProxy = isTrusted(address, hops)
    if (isProxy && proxies.size < PROXIES_MAX) proxies.add(address)
    return isProxy
  }
}

/** The stable collection endpoints, the busiest first: the router looks at them one after the other. */
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
      .options(preflight(parts.deps.catalog, ['GET', 'HEAD']))
      .get(limit, handler)
      .all(wrongMethod(['GET', 'HEAD', 'OPTIONS'], parts))
  }
  post('/visits', visitsRoute(parts))
  post('/events', eventsRoute(parts))
  post('/visits/activate', visitsActivateRoute(parts))
  post('/handoffs', handoffsRoute(parts))
  get('/projects/:website/browser-config', browserConfig(parts))
  get('/projects/:website/paths/:path/report.sh', reportScript(parts, hookBody))
  get('/projects/:website/report.sh', reportScript(parts, hookBody))
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
      const status = sendRefusal(res, refuse('method_not_allowed'), { Allow: 'GET, HEAD' })
      deps.metrics.answered(path, status, 'method_not_allowed', 0)
    })
}

/** Asked for twice by most requests, by the limit and for the record; reading a proxy's header is not cheap. */
function addressHasher(deps: ApiDeps): (req: Request) => string {
  const hasProxies = deps.options.trustProxy.length > 0
  const known = new WeakMap<Request, string>()
  return (req) => {
    const before = known.get(req)
    if (before !== undefined) return before
    const peer = req.socket.remoteAddress
    const hash = deps.keys.addressHash(countedAddress(hasProxies ? req.ip : peer, peer), deps.nowMs())
    known.set(req, hash)
    return hash
  }
}

function limitAddresses(parts: PipelineParts): RequestHandler {
  const { deps, recorder, addressHashOf } = parts
  return addressLimit({
    hotState: deps.hotState,
    nowMs: deps.nowMs,
    addressHash: addressHashOf,
    onLimited: async (req, res, hit) => {
      const exchange = openExchange(req, deps, addressHashOf(req))
      // Read for the record, and so that the connection can stay: a proxy may share it among many clients.
      if (!(await takeBody(req, exchange))) return
      exchange.website = findWebsite(exchange.body?.['project'] ?? req.params['website'], deps)
      if (exchange.website !== null && hit.isFirst) recorder.limitReached(exchange.website, 'collection')
      sendRefused({ req, res, exchange, refusal: refuse('rate_limited', { retryAfter: hit.retryAfterS }) }, parts)
    },
  })
}
