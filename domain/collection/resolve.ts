/** Chooses the visit of an install: a pure function of what was read, with a verdict for every receipt and token. */

import { LIMITS } from '../limits.ts'
import type {
  CandidateVerdict,
  Install,
  OpenCandidate,
  Resolution,
  SelectionPolicy,
  VisitId,
  VisitPolicy,
} from '../model.ts'
import { isExpired, type ReceiptClaims } from '../receipt.ts'

/** A receipt after its MAC was checked; `claims` is null if it is not genuine. */
export interface ReadReceipt {
  readonly claims: ReceiptClaims | null
  /** Whether it is genuine for another website; used only by `explain`. */
  readonly isForeign: boolean
}

/**
 * `unknown`: no source has ever seen it activated. `undecided`: the source that would know cannot answer now.
 * `predecessor_unknown`: active, but it is not known yet which receipt it replaced.
 */
export type KnownState = 'issued' | 'active' | 'predecessor_unknown' | 'revoked' | 'unknown' | 'undecided'

export interface ChosenVisit {
  readonly visitId: VisitId
  readonly issuedAtMs: number
  readonly gpc: boolean
}

/**
 * Whether an installation was matched before. `undecided`: the source cannot answer now, or its last event is pending.
 */
export type KnownInstallation =
  { readonly kind: 'matched'; readonly visit: ChosenVisit } | { readonly kind: 'none' } | { readonly kind: 'undecided' }

export interface ResolutionResult {
  readonly resolution: Resolution
  readonly selectionPolicy: SelectionPolicy
  readonly candidateCount: number
  readonly visit: ChosenVisit | null
  readonly verdicts: readonly CandidateVerdict[]
  /** Null unless it is pending. */
  readonly openCandidates: readonly OpenCandidate[] | null
}

export interface ResolutionInput {
  readonly nowMs: number
  readonly receipts: readonly ReadReceipt[]
  /** States in the order of `lookupsOf(receipts)`. */
  readonly states: ReadonlyMap<VisitId, KnownState>
  /** Present if the event carried a token; its claims are null if it is unusable. */
  readonly handoff: ReadReceipt | null
  readonly installation: KnownInstallation
  /** The website's. */
  readonly policy: VisitPolicy
}

/** Nothing was read, because of the plan or a paused install path. */
export const COUNTED: ResolutionResult = {
  resolution: 'counted',
  selectionPolicy: 'none',
  candidateCount: 0,
  visit: null,
  verdicts: [],
  openCandidates: null,
}

/** The receipts whose state must be looked up: possible candidates, each visit once. */
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
  return followInstallation(input.installation, input.nowMs, verdicts)
}

function handoffVerdict(handoff: ReadReceipt, nowMs: number): CandidateVerdict {
  const { claims } = handoff
  if (claims === null) return unreadableVerdict(handoff)
  const identity = { visitId: claims.visitId, issuedAtMs: claims.issuedAtMs }
  if (claims.isUnrecorded) return { ...identity, verdict: 'unrecorded' }
  if (isAhead(claims, nowMs)) return { ...identity, verdict: 'forged' }
  return { ...identity, verdict: isExpired(claims.issuedAtMs, nowMs) ? 'expired' : 'handoff' }
}

function resolveReceipts(input: ResolutionInput): ResolutionResult {
  const seen = new Set<VisitId>()
  const verdicts: CandidateVerdict[] = []
  const candidates: OpenCandidate[] = []
  for (const receipt of input.receipts) {
    const { claims } = receipt
    if (claims === null) {
      verdicts.push(unreadableVerdict(receipt))
      continue
    }
    if (seen.has(claims.visitId)) continue
    seen.add(claims.visitId)
    const verdict = staticVerdict(claims, input.nowMs) ?? stateVerdict(input.states.get(claims.visitId))
    verdicts.push({ visitId: claims.visitId, issuedAtMs: claims.issuedAtMs, verdict })
    if (verdict === 'active' || verdict === 'undecided') {
      candidates.push({ ...chosen(claims), isDecided: verdict === 'active' })
    }
  }
  const { states, installation, policy, nowMs } = input
  return choose({ candidates, verdicts, states, installation, policy, nowMs })
}

interface Choice {
  readonly candidates: readonly OpenCandidate[]
  readonly verdicts: readonly CandidateVerdict[]
  readonly states: ReadonlyMap<VisitId, KnownState>
  readonly installation: KnownInstallation
  readonly policy: VisitPolicy
  readonly nowMs: number
}

/**
 * One receipt that cannot be judged leaves the result open: it could be the one to choose, and it counts as a candidate.
 * So does one whose predecessor is unknown, if there are other candidates: it may have replaced one of them.
 */
function choose({ candidates, verdicts, states, installation, policy, nowMs }: Choice): ResolutionResult {
  const mayReplace = ({ visitId }: OpenCandidate): boolean => states.get(visitId) === 'predecessor_unknown'
  const isOpen =
    candidates.some(({ isDecided }) => !isDecided) || (candidates.length > 1 && candidates.some(mayReplace))
  if (isOpen) return pending(verdicts, candidates)
  const best = visitByPolicy(candidates, policy)
  if (best === null) return followInstallation(installation, nowMs, verdicts)
  const { visitId, issuedAtMs, gpc } = best
  return matched(policy, candidates.length, { visitId, issuedAtMs, gpc }, verdicts)
}

/** What is known about a pending install's candidates and installation, as of the moment it was received. */
export interface LaterKnowledge {
  /** States of the candidates; a candidate that is not in it has none. */
  readonly states: ReadonlyMap<VisitId, KnownState>
  readonly installation: KnownInstallation
  /** When the event was received. */
  readonly receivedAtMs: number
}

type PendingInstall = Pick<Install, 'verdicts' | 'openCandidates' | 'visitPolicy'>

/**
 * Decides an install that was pending. If something is still `undecided` the result is pending again; a caller that
 * will not wait any longer passes `unknown` and `none` instead.
 */
export function resolveLater(
  { verdicts, openCandidates = [], visitPolicy: policy = 'latest_visit' }: PendingInstall,
  { states, installation, receivedAtMs }: LaterKnowledge,
): ResolutionResult {
  const judged = new Map(openCandidates.map((candidate) => [candidate.visitId, judge(candidate, states)]))
  return choose({
    candidates: openCandidates.flatMap((candidate) => {
      const verdict = judged.get(candidate.visitId)
      return verdict === 'active' || verdict === 'undecided' ? [{ ...candidate, isDecided: verdict === 'active' }] : []
    }),
    verdicts: verdicts.map((each) => ({ ...each, verdict: judged.get(each.visitId ?? '') ?? each.verdict })),
    states,
    installation,
    policy,
    nowMs: receivedAtMs,
  })
}

/** A candidate that was active at the first look-up stays active, unless it had already been revoked by then. */
function judge({ visitId, isDecided }: OpenCandidate, states: LaterKnowledge['states']): StateVerdict {
  const verdict = stateVerdict(states.get(visitId))
  return isDecided && verdict !== 'revoked' ? 'active' : verdict
}

/** A later event of an installation follows the visit of its first one while that visit still counts. */
function followInstallation(
  installation: KnownInstallation,
  nowMs: number,
  verdicts: readonly CandidateVerdict[],
): ResolutionResult {
  if (installation.kind === 'undecided') return pending(verdicts, [])
  if (installation.kind === 'matched' && !isExpired(installation.visit.issuedAtMs, nowMs)) {
    const { visitId, issuedAtMs, gpc } = installation.visit
    return matched('same_installation', 0, { visitId, issuedAtMs, gpc }, verdicts)
  }
  return { ...NOTHING_CHOSEN, resolution: 'unmatched', verdicts, openCandidates: null }
}

const NOTHING_CHOSEN = { selectionPolicy: 'none', candidateCount: 0, visit: null } as const

function pending(verdicts: readonly CandidateVerdict[], openCandidates: readonly OpenCandidate[]): ResolutionResult {
  return { ...NOTHING_CHOSEN, resolution: 'pending', verdicts, openCandidates }
}

function matched(
  selectionPolicy: SelectionPolicy,
  candidateCount: number,
  visit: ChosenVisit,
  verdicts: readonly CandidateVerdict[],
): ResolutionResult {
  return { resolution: 'matched', selectionPolicy, candidateCount, visit, verdicts, openCandidates: null }
}

/** The verdict that a receipt alone gives, before any look-up; null if its state decides. */
function staticVerdict(
  claims: ReceiptClaims,
  nowMs: number,
): 'unrecorded' | 'handoff_only' | 'expired' | 'forged' | null {
  if (claims.isUnrecorded) return 'unrecorded'
  if (claims.isHandoffOnly) return 'handoff_only'
  if (isAhead(claims, nowMs)) return 'forged'
  return isExpired(claims.issuedAtMs, nowMs) ? 'expired' : null
}

/** A future time was not issued here, even if the MAC is right: a clock was wrong, or a key has leaked. */
function isAhead(claims: ReceiptClaims, nowMs: number): boolean {
  return claims.issuedAtMs > nowMs + LIMITS.clockSkewMs
}

type StateVerdict = 'active' | 'revoked' | 'undecided' | 'never_activated'

function stateVerdict(state: KnownState | undefined): StateVerdict {
  if (state === 'predecessor_unknown') return 'active'
  return state === 'active' || state === 'revoked' || state === 'undecided' ? state : 'never_activated'
}

function unreadableVerdict(receipt: ReadReceipt): CandidateVerdict {
  return { visitId: null, issuedAtMs: null, verdict: receipt.isForeign ? 'other_website' : 'forged' }
}

function chosen(claims: ReceiptClaims): ChosenVisit {
  return { visitId: claims.visitId, issuedAtMs: claims.issuedAtMs, gpc: claims.gpc }
}

/** The newest of these visits, or the oldest, as the policy says; null if there is none. */
export function visitByPolicy<V extends DatedVisit>(visits: readonly V[], policy: VisitPolicy): V | null {
  const sorted = visits.toSorted((one, other) => (isNewerVisit(one, other) ? 1 : -1))
  return sorted.at(policy === 'first_visit' ? 0 : -1) ?? null
}

type DatedVisit = Pick<ChosenVisit, 'visitId' | 'issuedAtMs'>

function isNewerVisit(one: DatedVisit, other: DatedVisit): boolean {
  if (one.issuedAtMs !== other.issuedAtMs) return one.issuedAtMs > other.issuedAtMs
  return one.visitId > other.visitId
}
