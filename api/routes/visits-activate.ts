/**
 * `POST /v1/visits/activate`: the browser has stored the marker, so its receipt may match; the one it replaced no
 * longer does.
 */

import { ownedWebsite } from '../../domain/catalog.ts'
import { refuse, type Refusal } from '../../domain/errors.ts'
import { isExpired, type ReceiptClaims } from '../../domain/receipt.ts'
import { ACTIVATION_SCHEMA } from '../../domain/collection/schemas.ts'
import type { Activation, ReceiptRef } from '../../ports/hot-state/hot-state.ts'
import type { ApiDeps } from '../deps.ts'
import type { CheckedRequest, CollectionRoute, PipelineParts } from '../collection/pipeline.ts'
import { isRefusal, recall, receiptRef, requireReceipt } from '../collection/receipts.ts'
import { compileValidator } from '../http/validate.ts'

const OK = { kind: 'answer', body: { ok: true } } as const

export function visitsActivateRoute(parts: PipelineParts): CollectionRoute {
  return {
    caller: 'browser',
    validate: compileValidator(ACTIVATION_SCHEMA),
    check: (request) => request,
    hits: () => [],
    handle: async (request) => {
      const claims = requireReceipt(request, parts.deps)
      if (isRefusal(claims)) return claims
      if (claims.isHandoffOnly) return refuse('receipt_not_activatable')
      if (isExpired(claims.issuedAtMs, request.exchange.receivedAtMs)) return refuse('receipt_expired')
      if (claims.isUnrecorded) return { ...OK, isUnrecorded: true }
      return applyActivation(request, claims, parts)
    },
  }
}

async function applyActivation(
  request: CheckedRequest,
  claims: ReceiptClaims,
  parts: PipelineParts,
): Promise<Refusal | typeof OK> {
  const { exchange, website } = request
  const ref = receiptRef(ownedWebsite(website), claims)
  const activation = await activate(ref, parts.deps)
  if (activation.kind === 'revoked') return refuse('receipt_revoked')
  const predecessor = activation.kind === 'unknown' ? 'unknown' : activation.revoked
  const revoked = predecessor === 'unknown' ? null : predecessor
  // A known activation is appended again: the first time may have failed between state and log.
  await parts.recorder.accept(request, {
    topic: 'activations',
    id: claims.visitId,
    build: (log) => ({
      v: 1,
      kind: 'activation',
      request: log,
      ...ref,
      activatedAtMs: exchange.receivedAtMs,
      revokedVisitId: revoked?.visitId ?? null,
      revokedIssuedAtMs: revoked?.issuedAtMs ?? null,
      isPredecessorUnknown: predecessor === 'unknown',
      retentionDays: website.retentionDays,
    }),
  })
  return OK
}

/**
 * A genuine receipt was issued. If the state has forgotten it, the facts or the receipt itself decide. The receipt does
 * not contain the one it replaces.
 */
async function activate(ref: ReceiptRef, deps: ApiDeps): Promise<Activation> {
  const first = await deps.hotState.activate(ref)
  if (first.kind !== 'unknown') return first
  const recalled = await recall([ref], deps)
  if (!recalled.has(ref.visitId)) await deps.hotState.learn({ ...ref, previous: 'unknown' }, 'issued')
  return deps.hotState.activate(ref)
}
