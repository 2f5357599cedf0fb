/** `POST /v1/handoffs`: a token for a visit that has a receipt, or for a visit made only for the handoff. */

import { ownedWebsite } from '../../domain/catalog.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { expiresAtMs, isExpired, issueToken, type ReceiptClaims } from '../../domain/receipt.ts'
import { visitHits } from '../../domain/collection/rate.ts'
import { HANDOFF_RECEIPT_SCHEMA, HANDOFF_VISIT_SCHEMA } from '../../domain/collection/schemas.ts'
import type { JsonObject } from '../../domain/strict-json.ts'
import { checkVisitFields } from '../../domain/collection/visit.ts'
import type { AcceptedAnswer, CheckedRequest, CollectionRoute, PipelineParts } from '../collection/pipeline.ts'
import { isRefusal, isRevoked, receiptRef, requireReceipt } from '../collection/receipts.ts'
import { withPage, type VisitRequest } from '../collection/visit-page.ts'
import { saysGpc } from '../collection/request-logs.ts'
import { uncountOnFailure } from '../collection/usage.ts'
import { compileValidator } from '../http/validate.ts'
import { admit, type AdmittedRequest } from './visits.ts'

export function handoffsRoute(parts: PipelineParts): CollectionRoute<CheckedRequest | VisitRequest> {
  const receiptForm = compileValidator(HANDOFF_RECEIPT_SCHEMA)
  const visitForm = compileValidator(HANDOFF_VISIT_SCHEMA)
  return {
    caller: 'browser',
    validate: (body) => (isVisit(body) ? (visitForm(body) ?? checkVisitFields(body)) : receiptForm(body)),
    check: (request) => (isVisit(request.body) ? withPage(request) : request),
    // The form without a receipt records a visit.
    hits: (request) => ('page' in request ? visitHits(request.website.id) : []),
    handle: (request) => ('page' in request ? handOffNewVisit(request, parts) : handOffReceipt(request, parts)),
  }
}

/** Without a receipt the body is a visit that exists only for the handoff. */
function isVisit(body: JsonObject): boolean {
  return body['receipt'] === undefined
}

async function handOffReceipt(request: CheckedRequest, parts: PipelineParts): Promise<Refusal | AcceptedAnswer> {
  const { exchange, website } = request
  const claims = requireReceipt(request, parts.deps)
  if (isRefusal(claims)) return claims
  if (isExpired(claims.issuedAtMs, exchange.receivedAtMs)) return refuse('receipt_expired')
  if (claims.isUnrecorded) return { ...answerToken(request, claims, parts), isUnrecorded: true }
  if (!claims.isHandoffOnly && (await isRevoked(receiptRef(ownedWebsite(website), claims), parts.deps)))
    return refuse('receipt_revoked')
  await parts.recorder.accept(request, {
    topic: 'handoffs',
    id: claims.visitId,
    build: (log) => ({
      v: 1,
      kind: 'handoff',
      request: log,
      ...ownedWebsite(website),
      visitId: claims.visitId,
      issuedAtMs: claims.issuedAtMs,
      askedAtMs: exchange.receivedAtMs,
      gpc: saysGpc(exchange),
      isCopied: request.body['copied'] === true,
      isHandoffOnly: claims.isHandoffOnly,
      visit: null,
      retentionDays: website.retentionDays,
    }),
  })
  return answerToken(request, claims, parts)
}

async function handOffNewVisit(request: VisitRequest, parts: PipelineParts): Promise<AcceptedAnswer> {
  const admitted = await admit(request, parts, { isHandoffOnly: true })
  const { usage, claims, receipt } = admitted
  if (usage.isUnrecorded)
    return { ...answerToken(request, claims, parts, { receipt, recorded: false }), isUnrecorded: true }
  await uncountOnFailure(usage, () => recordHandoffVisit(request, admitted, parts))
  return answerToken(request, claims, parts, { receipt })
}

async function recordHandoffVisit(
  request: VisitRequest,
  { visit }: AdmittedRequest,
  { recorder }: PipelineParts,
): Promise<void> {
  const { website } = request
  const { retentionDays } = website
  await recorder.accept(request, {
    topic: 'handoffs',
    id: visit.visitId,
    build: (log) => ({
      v: 1,
      kind: 'handoff',
      request: log,
      ...ownedWebsite(website),
      visitId: visit.visitId,
      issuedAtMs: visit.issuedAtMs,
      askedAtMs: visit.issuedAtMs,
      gpc: visit.gpc,
      isCopied: false,
      isHandoffOnly: true,
      visit,
      retentionDays,
    }),
  })
}

function answerToken(
  { exchange, website }: CheckedRequest,
  claims: ReceiptClaims,
  { deps }: PipelineParts,
  more: { readonly receipt?: string; readonly recorded?: false } = {},
): AcceptedAnswer {
  const token = issueToken(deps.keys, ownedWebsite(website), claims, saysGpc(exchange))
  return { kind: 'answer', body: { ok: true, token, expires_at: expiresAtMs(claims.issuedAtMs), ...more } }
}
