/** Chooses the visit of an install: a pure function of what was read, with a verdict for everything that was looked at. */

import { LIMITS } from './limits.ts'
import type { CandidateVerdict, Resolution, SelectionPolicy, VisitId } from './model.ts'
import { isExpired, type ReceiptClaims } from './receipt.ts'

/** A receipt as far as it proves itself; `claims` is null where it does not. */
export interface ReadReceipt {
  readonly claims: ReceiptClaims | null
  /** Whether it proves itself for another website: told apart for `explain` only. */
  readonly isForeign: boolean
}

/** `predecessor_unknown`: active, and which receipt it replaced is still to be learnt. */
export type KnownState = 'issued' | 'active' | 'predecessor_unknown' | 'revoked' | 'unknown'

export interface ChosenVisit {
  readonly visitId: VisitId
  readonly issuedAtMs: number
  readonly gpc: boolean
}

export interface ResolutionResult {
  readonly resolution: Resolution
  readonly selectionPolicy: SelectionPolicy
  readonly candidateCount: number
  readonly visit: ChosenVisit | null
  readonly verdicts: readonly CandidateVerdict[]
}

export interface ResolutionInput {
  readonly nowMs: number
  readonly receipts: readonly ReadReceipt[]
  /** States in the order of `lookupsOf(receipts)`. */
  readonly states: ReadonlyMap<VisitId, KnownState>
  /** Present where the event carried a token; its claims are null where it is unusable. */
  readonly handoff: ReadReceipt | null
  /** The visit that this installation was matched to before. */
  readonly installationVisit: ChosenVisit | null
}

/** Nothing was read: the plan or a paused install path says so. */
export const COUNTED: ResolutionResult = {
  resolution: 'counted',
  selectionPolicy: 'none',
  candidateCount: 0,
  visit: null,
  verdicts: [],
}

/** The receipts whose state must be looked up: those that could be candidates, each visit once. */
export function lookupsOf(receipts: readonly ReadReceipt[], nowMs: number): readonly ReceiptClaims[] {
  const wanted = new Map<VisitId, ReceiptClaims>()
  for (const { claims } of receipts) {
    if (claims !== null && staticVerdict(claims, nowMs) === null) wanted.set(claims.visitId, claims)
  }
  return [...wanted.values()]
}

export function resolve(input: ResolutionInput): ResolutionResult {
  return input.handoff === null ? resolveReceipts(input) : resolveHandoff(input.handoff, input)
}

function resolveHandoff(handoff: ReadReceipt, input: ResolutionInput): ResolutionResult {
  const verdict = handoffVerdict(handoff, input.nowMs)
  const verdicts = [verdict]
  // A visit whose browser receipt was revoked since still counts: the visitor copied this very command.
  if (verdict.verdict === 'handoff' && handoff.claims !== null) {
    return matched('handoff', 1, chosen(handoff.claims), verdicts)
  }
  return fallBack(input, verdicts)
}

function handoffVerdict(handoff: ReadReceipt, nowMs: number): CandidateVerdict {
  const { claims } = handoff
  if (claims === null) return unreadable(handoff)
  const identity = { visitId: claims.visitId, issuedAtMs: claims.issuedAtMs }
  if (claims.isUnrecorded) return { ...identity, verdict: 'unrecorded' }
  if (isAhead(claims, nowMs)) return { ...identity, verdict: 'forged' }
  return { ...identity, verdict: isExpired(claims.issuedAtMs, nowMs) ? 'expired' : 'handoff' }
}

function resolveReceipts(input: ResolutionInput): ResolutionResult {
  const seen = new Set<VisitId>()
  const verdicts: CandidateVerdict[] = []
  let candidateCount = 0
  let best: ReceiptClaims | null = null
  for (const receipt of input.receipts) {
    const { claims } = receipt
    if (claims === null) {
      verdicts.push(unreadable(receipt))
      continue
    }
    if (seen.has(claims.visitId)) continue
    seen.add(claims.visitId)
    const verdict = staticVerdict(claims, input.nowMs) ?? stateVerdict(input.states.get(claims.visitId))
    verdicts.push({ visitId: claims.visitId, issuedAtMs: claims.issuedAtMs, verdict })
    if (verdict !== 'active') continue
    candidateCount++
    if (best === null || isNewer(claims, best)) best = claims
  }
  if (best === null) return fallBack(input, verdicts)
  return matched('latest_visit', candidateCount, chosen(best), verdicts)
}

/** A later event of an installation follows the visit of its first one while that visit still counts. */
function fallBack(input: ResolutionInput, verdicts: readonly CandidateVerdict[]): ResolutionResult {
  const visit = input.installationVisit
  if (visit !== null && !isExpired(visit.issuedAtMs, input.nowMs)) {
    return matched(
      'same_installation',
      0,
      { visitId: visit.visitId, issuedAtMs: visit.issuedAtMs, gpc: visit.gpc },
      verdicts,
    )
  }
  return { resolution: 'unmatched', selectionPolicy: 'none', candidateCount: 0, visit: null, verdicts }
}

function matched(
  selectionPolicy: SelectionPolicy,
  candidateCount: number,
  visit: ChosenVisit,
  verdicts: readonly CandidateVerdict[],
): ResolutionResult {
  return { resolution: 'matched', selectionPolicy, candidateCount, visit, verdicts }
}

/** What a receipt says of itself, before any look-up; null where its state decides. */
function staticVerdict(
  claims: ReceiptClaims,
  nowMs: number,
): 'unrecorded' | 'handoff_only' | 'expired' | 'forged' | null {
  if (claims.isUnrecorded) return 'unrecorded'
  if (claims.isHandoffOnly) return 'handoff_only'
  if (isAhead(claims, nowMs)) return 'forged'
  return isExpired(claims.issuedAtMs, nowMs) ? 'expired' : null
}

/** A time to come was not issued here, however good the MAC: a clock was wrong or a key has leaked. */
function isAhead(claims: ReceiptClaims, nowMs: number): boolean {
  return claims.issuedAtMs > nowMs + LIMITS.clockSkewMs
}

function stateVerdict(state: KnownState | undefined): 'active' | 'revoked' | 'never_activated' {
  if (state === 'predecessor_unknown') return 'active'
  return state === 'active' || state === 'revoked' ? state : 'never_activated'
}

function unreadable(receipt: ReadReceipt): CandidateVerdict {
  return { visitId: null, issuedAtMs: null, verdict: receipt.isForeign ? 'other_website' : 'forged' }
}

function chosen(claims: ReceiptClaims): ChosenVisit {
  return { visitId: claims.visitId, issuedAtMs: claims.issuedAtMs, gpc: claims.gpc }
}

function isNewer(one: ReceiptClaims, other: ReceiptClaims): boolean {
  if (one.issuedAtMs !== other.issuedAtMs) return one.issuedAtMs > other.issuedAtMs
  return one.visitId > other.visitId
}
