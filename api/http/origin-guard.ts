/** CORS: preflights for any registered origin; answers echo the origin; never credentials. */

import type { Request, RequestHandler } from 'express'
import type { Catalog } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import { normaliseOrigin } from '../../domain/origin.ts'
import type { Headers } from './reply.ts'

const VARY_ORIGIN: Headers = { 'Cache-Control': 'no-store', Vary: 'Origin' }

/** Headers of an answer to a collection request. Only origins that some website registered may read it. */
export function corsHeaders(req: Request, catalog: Catalog): Headers {
  const { origin } = req.headers
  if (origin === undefined || !isRegistered(origin, catalog)) return VARY_ORIGIN
  return { 'Cache-Control': 'no-store', Vary: 'Origin', 'Access-Control-Allow-Origin': origin }
}

/** Answers `OPTIONS` of the collection endpoints; the request itself is checked for the right website. */
export function preflight(catalog: () => Catalog, methods: readonly string[]): RequestHandler {
  const allowedMethods = methods.join(', ')
  return (req, res) => {
    const { origin } = req.headers
    const isAllowed = origin !== undefined && isRegistered(origin, catalog())
    res.writeHead(204, {
      Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
      Allow: `${allowedMethods}, OPTIONS`,
      ...(isAllowed
        ? {
            'Access-Control-Allow-Origin': origin,
            'Access-Control-Allow-Methods': allowedMethods,
            'Access-Control-Allow-Headers': 'Content-Type',
            'Access-Control-Max-Age': LIMITS.preflightCacheS,
          }
        : {}),
    })
    res.end()
  }
}

function isRegistered(origin: string, catalog: Catalog): boolean {
  if (catalog.origins.has(origin)) return true
  const normal = normaliseOrigin(origin)
  return normal !== null && catalog.origins.has(normal)
}
