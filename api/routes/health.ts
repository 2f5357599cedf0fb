/** `GET /health`: that the process lives, what it delivers, and how its parts are. */

import type { RequestHandler } from 'express'
import type { Catalog, Destination } from '../../domain/catalog.ts'
import type { ApiDeps } from '../deps.ts'
import { sendJson } from '../reply.ts'

type DeliveryMode = 'live' | 'validate' | 'none'

export function health(deps: ApiDeps): RequestHandler {
  return (_req, res) => {
    const catalog = deps.catalog()
    const destinations = [...catalog.websites.values()].flatMap((website) => website.destinations)
    const { problems, parts } = deps.options.healthParts()
    sendJson(res, {
      ok: true,
      ga_mode: modeOf(destinations.filter(({ provider }) => provider === 'ga4')),
      delivery: modeOf(destinations),
      version: deps.options.version,
      catalog: { ...sizesOf(catalog), problems },
      event_log: deps.eventLog.health(),
      hot_state: deps.hotState.health(),
      facts: deps.facts.health(),
      ...parts,
    })
  }
}

function modeOf(destinations: readonly Destination[]): DeliveryMode {
  if (destinations.length === 0) return 'none'
  return destinations.some(({ mode }) => mode === 'Live') ? 'live' : 'validate'
}

function sizesOf(catalog: Catalog): object {
  return { version: catalog.version, organizations: catalog.organizations.size, websites: catalog.websites.size }
}
