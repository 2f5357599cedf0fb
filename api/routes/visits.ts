/** `POST /v1/visits`: records a visit and answers with the marker that the SDK writes into the browser. */

import { createHash } from 'node:crypto'
import type { Refusal } from '../../domain/errors.ts'
import { visitHits } from '../../domain/rate.ts'
import { VISIT_SCHEMA } from '../../domain/schemas.ts'
import { admitVisit, checkPage, markerOf, type AdmittedVisit } from '../../domain/visit.ts'
import type { Answer, CheckedRequest, CollectionRoute, PipelineParts } from '../pipeline.ts'
import { saysGpc } from '../request-logs.ts'
import { keepUsage, takeUsage, type TakenUsage } from '../usage.ts'
import { compileValidator } from '../validate.ts'

const RANDOM_BYTES = 5

export function visitsRoute(parts: PipelineParts): CollectionRoute {
  return {
    name: '/v1/visits',
    caller: 'browser',
    validate: compileValidator(VISIT_SCHEMA),
    hits: ({ website }) => visitHits(website.id),
    handle: async (request) => {
      const admitted = await admit(request, parts, { isHandoffOnly: false })
      if (admitted.kind === 'refused') return admitted
      const { visit, receipt, usage } = admitted
      const marker = markerOf(visit, receipt)
      if (usage.isUnrecorded) return { kind: 'answer', body: { marker, recorded: false } }
      await keepUsage(usage, () => applyVisit(request, admitted, parts))
      return { kind: 'answer', body: { marker } } satisfies Answer
    },
  }
}

export type AdmittedRequest = AdmittedVisit & { readonly usage: TakenUsage }

/** Checks the page, counts the tracked event and makes the visit; the handoff-only form comes through here too. */
export async function admit(
  { exchange, body, website, origin }: CheckedRequest,
  { deps, recorder }: PipelineParts,
  form: { readonly isHandoffOnly: boolean },
): Promise<Refusal | AdmittedRequest> {
  const page = checkPage(body, { website, origin, sha256Hex })
  if (page.kind === 'refused') return page
  const usage = await takeUsage({ exchange, website }, deps, recorder)
  const admitted = admitVisit(body, page, {
    website,
    origin,
    keys: deps.keys,
    sha256Hex,
    random: deps.randomness.bytes(RANDOM_BYTES),
    nowMs: exchange.receivedAtMs,
    gpc: saysGpc(exchange),
    isUnrecorded: usage.isUnrecorded,
    ...form,
  })
  return { ...admitted, usage }
}

async function applyVisit(request: CheckedRequest, admitted: AdmittedRequest, parts: PipelineParts): Promise<void> {
  const { visit, previous } = admitted
  const { retentionDays } = request.website
  const refOf = (visitId: string, issuedAtMs: number) => ({ website: visit.website, visitId, issuedAtMs })
  // Both are for the same commit where one store holds both; neither needs the other to have happened.
  await Promise.all([
    parts.recorder.accept(request.exchange, {
      topic: 'visits',
      id: visit.visitId,
      build: (log) => ({ v: 1, kind: 'visit', request: log, visit, retentionDays }),
    }),
    parts.deps.hotState.putVisit({
      ...refOf(visit.visitId, visit.issuedAtMs),
      previous: previous === null ? null : refOf(previous.visitId, previous.issuedAtMs),
    }),
  ])
}

export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
