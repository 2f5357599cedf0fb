/**
 * `GET /health`: that the process is alive, what it delivers, and whether its parts are healthy. It is public, so it
 * names nothing.
 */

import type { RequestHandler } from 'express'
import { deliveryModes } from '../../domain/collection/catalog-index.ts'
import type { ApiDeps } from '../deps.ts'
import { sendJson } from '../http/reply.ts'
import type { AnswerNamed } from '../openapi/schemas.ts'

export function health(deps: ApiDeps): RequestHandler {
  return (_req, res) => {
    const catalog = deps.catalog()
    const { ga4, all } = deliveryModes(catalog)
    sendJson(res, {
      ok: true,
      ga_mode: ga4,
      delivery: all,
      version: deps.options.site.version,
      catalog: { version: catalog.version, isComplete: deps.options.isCatalogComplete() },
      event_log: flagsOf(deps.eventLog.health()),
      hot_state: flagsOf(deps.hotState.health()),
      facts: flagsOf(deps.facts.health()),
    } satisfies AnswerNamed<'Health'>)
  }
}

/** The yes-or-no values of a part's health. Figures are only on the metrics port. */
function flagsOf(health: object): Readonly<Record<string, boolean>> {
  return Object.fromEntries(Object.entries(health).filter(([, value]) => typeof value === 'boolean'))
}
