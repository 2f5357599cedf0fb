/** `POST /v1/visits`: records a visit and answers with the marker that the SDK writes into the browser. */

import { visitHits } from '../../domain/collection/rate.ts'
import { ownedWebsite } from '../../domain/catalog.ts'
import { isTestMark } from '../../domain/collection/test-mark.ts'
import { VISIT_SCHEMA } from '../../domain/collection/schemas.ts'
import { admitVisit, checkVisitFields, markerOf, type AdmittedVisit } from '../../domain/collection/visit.ts'
import { isBot, visitorOf } from '../../domain/collection/visitor.ts'
import { objectOf } from '../../domain/strict-json.ts'
import type { AcceptedAnswer, CollectionRoute, PipelineParts } from '../collection/pipeline.ts'
import { siblingsOf } from '../collection/other-websites.ts'
import { receiptRef } from '../collection/receipts.ts'
import { withPage, type VisitRequest } from '../collection/visit-page.ts'
import { saysGpc } from '../collection/request-logs.ts'
import { countBotVisit, countTrackedEvent, uncountOnFailure, type CountedEvent } from '../collection/usage.ts'
import { compileValidator } from '../http/validate.ts'

const RANDOM_BYTES = 5

export function visitsRoute(parts: PipelineParts): CollectionRoute<VisitRequest> {
  const bySchema = compileValidator(VISIT_SCHEMA)
  return {
    caller: 'browser',
    validate: (body) => bySchema(body) ?? checkVisitFields(body),
    check: withPage,
    hits: ({ website }) => visitHits(website.id),
    handle: async (request) => {
      const admitted = await admit(request, parts, { isHandoffOnly: false })
      const { visit, receipt, usage } = admitted
      const marker = markerOf(visit, receipt)
      if (usage.isUnrecorded) return { kind: 'answer', body: { marker, recorded: false }, isUnrecorded: true }
      await uncountOnFailure(usage, () => applyVisit(request, admitted, parts))
      return { kind: 'answer', body: { marker } } satisfies AcceptedAnswer
    },
  }
}

export type AdmittedRequest = AdmittedVisit & { readonly usage: CountedEvent }

/** Counts the tracked event, which the visit of a bot is not, and makes the visit; also for visits made only for a handoff. */
export async function admit(
  { exchange, body, website, origin, page }: VisitRequest,
  { deps, recorder }: PipelineParts,
  form: { readonly isHandoffOnly: boolean },
): Promise<AdmittedRequest> {
  const visitor = visitorOf({ userAgent: exchange.userAgent, client: objectOf(body['client']) })
  const usage = isBot(visitor)
    ? await countBotVisit({ exchange, website }, deps)
    : await countTrackedEvent({ exchange, website }, deps, recorder)
  const admitted = admitVisit(body, {
    site: { website, page, origin, siblings: siblingsOf(website, deps.catalog()) },
    marks: {
      gpc: saysGpc(exchange),
      isUnrecorded: usage.isUnrecorded,
      isHandoffOnly: form.isHandoffOnly,
      isTest: isTestMark(deps.keys, ownedWebsite(website), body['test'], exchange.receivedAtMs),
    },
    keys: deps.keys,
    random: deps.randomness.bytes(RANDOM_BYTES),
    nowMs: exchange.receivedAtMs,
    visitor,
  })
  return { ...admitted, usage }
}

async function applyVisit(request: VisitRequest, admitted: AdmittedRequest, parts: PipelineParts): Promise<void> {
  const { visit, claims, previous } = admitted
  const { retentionDays } = request.website
  // Neither depends on the other.
  await Promise.all([
    parts.recorder.accept(request, {
      topic: 'visits',
      id: visit.visitId,
      build: (log) => ({ v: 1, kind: 'visit', request: log, visit, retentionDays }),
    }),
    parts.deps.hotState.putVisit({
      ...receiptRef(visit, claims),
      previous: previous === null ? null : receiptRef(visit, previous),
    }),
  ])
}
