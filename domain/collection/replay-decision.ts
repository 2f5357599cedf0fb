/**
 * Decides stored installs again under another policy: a pure function of the verdicts that were stored with them. Nothing
 * is looked up, so a receipt keeps the verdict of its day; only the choice among the candidates is made again.
 */

import { shapeOf, isNumber, listOf, isText, orNull, isOneOf, orAbsent } from '../guards.ts'
import { LIMITS } from '../limits.ts'
import {
  type CandidateVerdict,
  type EventType,
  type Resolution,
  type SelectionPolicy,
  type VisitId,
  type VisitPolicy,
  SELECTION_POLICIES,
  VISIT_POLICIES,
} from '../model.ts'
import { isExpired } from '../receipt.ts'
import { visitByPolicy } from './resolve.ts'

export interface ReplayPolicy {
  readonly policy: VisitPolicy
  /** How old a visit may be at the install to count, in ms; receipts never count after 30 days. */
  readonly windowMs: number
  /** Only tokens of copied install commands count, not receipts that the hook found. */
  readonly isTokensOnly: boolean
}

/** An install as it was decided; `visitId` is null unless it is matched. */
export interface DecidedInstall {
  readonly eventId: string
  readonly installationId: string
  readonly eventType: EventType
  readonly receivedAtMs: number
  readonly resolution: Resolution
  readonly selectionPolicy: SelectionPolicy
  readonly visitId: VisitId | null
  readonly visitIssuedAtMs: number | null
  readonly verdicts: readonly CandidateVerdict[]
}

/** An install whose visit would change: to another one, to none, or from none to one. */
export interface ReplayChange {
  readonly eventId: string
  readonly receivedAtMs: number
  readonly visitId: VisitId | null
  readonly selectionPolicy: SelectionPolicy
  readonly source: string | null
  readonly replayedVisitId: VisitId | null
  readonly replayedPolicy: SelectionPolicy
  readonly replayedSource: string | null
}

export interface SourceDifference {
  /** Of the campaign; empty if the visit names none. */
  readonly source: string
  readonly lost: number
  readonly gained: number
}

export interface ReplayResult {
  readonly installs: number
  readonly matched: number
  readonly replayedMatched: number
  /** Only counted, or still pending. */
  readonly notDecided: number
  readonly changed: number
  readonly sources: readonly SourceDifference[]
  /** The oldest 10,000 of them. */
  readonly changes: readonly ReplayChange[]
}

/** Why a replay has no result. A cancelled one is stored as one that failed. */
const REPLAY_FAILURES = ['too_many_installations', 'given_up', 'failed', 'cancelled'] as const
export type ReplayFailure = (typeof REPLAY_FAILURES)[number]

/** Up to which install a replay is, and what it comes to so far: another process goes on from there. */
export interface ReplayCheckpoint {
  /** When that install was received, Unix ms, and its event ID. */
  readonly afterMs: number
  readonly afterId: string
  readonly result: ReplayResult
}

/** What is stored in the place of a result, while a replay runs and after it has failed. */
export interface UnfinishedReplay {
  /** Processes that have begun it or gone on with it, since the checkpoint if there is one. */
  readonly starts: number
  /** Absent until there is one, and after the replay has failed. */
  readonly checkpoint?: ReplayCheckpoint | undefined
  /** Absent while it runs. */
  readonly failure?: ReplayFailure
}

export const isReplayResult = shapeOf<ReplayResult>({
  installs: isNumber,
  matched: isNumber,
  replayedMatched: isNumber,
  notDecided: isNumber,
  changed: isNumber,
  sources: listOf(shapeOf<SourceDifference>({ source: isText, lost: isNumber, gained: isNumber })),
  changes: listOf(
    shapeOf<ReplayChange>({
      eventId: isText,
      receivedAtMs: isNumber,
      visitId: orNull(isText),
      selectionPolicy: isOneOf(SELECTION_POLICIES),
      source: orNull(isText),
      replayedVisitId: orNull(isText),
      replayedPolicy: isOneOf(SELECTION_POLICIES),
      replayedSource: orNull(isText),
    }),
  ),
})

export const isUnfinishedReplay = shapeOf<UnfinishedReplay>({
  starts: isNumber,
  checkpoint: orAbsent(shapeOf<ReplayCheckpoint>({ afterMs: isNumber, afterId: isText, result: isReplayResult })),
  failure: orAbsent(isOneOf(REPLAY_FAILURES)),
})

/** A stored policy. @throws Error for one that only another release knows */
export function policyOf(stored: string): VisitPolicy {
  const policy = VISIT_POLICIES.find((each) => each === stored)
  if (policy === undefined) throw new Error('a replay has a policy that this release does not know')
  return policy
}

/** Of the entry of the activity that cancels a replay. */
export const REPLAY_CANCELLED = 'replay_cancelled'

export function replaySubject(id: string): string {
  return `Replay/${id}`
}

/**
 * The entry that cancels it: durable, with whoever cancelled it, and read by the role `rollup` from the activity. `why` says why it was
 * cancelled, if nobody did it by hand.
 */
export function cancelEntry({ id, website }: { readonly id: string; readonly website: string }, why?: string) {
  const message = `A replay of the decisions about ${website} was cancelled${why === undefined ? '' : `: ${why}`}.`
  return { website, type: REPLAY_CANCELLED, subject: replaySubject(id), message } as const
}

interface CountedVisit {
  readonly visitId: VisitId
  readonly issuedAtMs: number
}

/** An installation's latest match: as decided, and as replayed. */
interface Carried {
  readonly live: VisitId
  readonly replayed: CountedVisit | null
  /** When its latest event was received, Unix ms: neither visit began later. */
  readonly seenAtMs: number
}

/** By installation ID, of one website; changed by each replayed install. */
export type CarriedMatches = Map<string, Carried>

interface ReplayedInstall {
  readonly visitId: VisitId | null
  readonly selectionPolicy: SelectionPolicy
}

/**
 * The visit this install would have been matched to. Installs of a website must come in the order in which they were
 * received, as later events of an installation follow its earlier ones. Null if there is nothing to decide again: it was
 * only counted, or is still pending.
 */
export function replayDecision(
  install: DecidedInstall,
  policy: ReplayPolicy,
  carried: CarriedMatches,
): ReplayedInstall | null {
  if (install.resolution !== 'matched' && install.resolution !== 'unmatched') return null
  const before = carried.get(install.installationId)
  const replayed = ownVisit(install, policy) ?? followedVisit(install, policy, before)
  const live = install.visitId ?? before?.live
  const carriedOn = sharing(live, replayed?.visit ?? before?.replayed ?? null)
  if (live !== undefined)
    carried.set(install.installationId, { live, replayed: carriedOn, seenAtMs: install.receivedAtMs })
  if (replayed === null) return { visitId: null, selectionPolicy: 'none' }
  return { visitId: replayed.visit.visitId, selectionPolicy: replayed.selectionPolicy }
}

/** The same visit, without a second copy of the ID: hundreds of thousands of them are kept. */
function sharing(visitId: VisitId | undefined, visit: CountedVisit | null): CountedVisit | null {
  return visit !== null && visit.visitId === visitId ? { visitId, issuedAtMs: visit.issuedAtMs } : visit
}

/** Forgets installations whose visits are too old to be followed at this moment, and ever after. */
export function forgetExpired(carried: CarriedMatches, nowMs: number): void {
  for (const [installation, { seenAtMs }] of carried) {
    if (isExpired(seenAtMs + LIMITS.clockSkewMs, nowMs)) carried.delete(installation)
  }
}

interface CountedMatch {
  readonly visit: CountedVisit
  readonly selectionPolicy: SelectionPolicy
}

/** Of the install's own token or receipts. */
function ownVisit(
  { verdicts, receivedAtMs }: DecidedInstall,
  { policy, windowMs, isTokensOnly }: ReplayPolicy,
): CountedMatch | null {
  const counted = (wanted: CandidateVerdict['verdict']): readonly CountedVisit[] =>
    verdicts.flatMap(({ verdict, visitId, issuedAtMs }) => {
      if (verdict !== wanted || visitId === null || issuedAtMs === null) return []
      return receivedAtMs - issuedAtMs <= windowMs ? [{ visitId, issuedAtMs }] : []
    })
  const [token] = counted('handoff')
  if (token !== undefined) return { visit: token, selectionPolicy: 'handoff' }
  if (isTokensOnly) return null
  const visit = visitByPolicy(counted('active'), policy)
  return visit === null ? null : { visit, selectionPolicy: policy }
}

/**
 * How long before a moment an event must be for it not to matter to any install after that moment, in ms: the visits that it could have been
 * matched to can be followed no more.
 */
export const FOLLOWED_FOR_MS = LIMITS.receiptLifetimeMs + 2 * LIMITS.clockSkewMs

/** Of an earlier event of the installation. */
function followedVisit(
  install: DecidedInstall,
  { windowMs }: ReplayPolicy,
  before: Carried | undefined,
): CountedMatch | null {
  const visit = before === undefined ? storedFollow(install) : before.replayed
  if (visit === null || install.receivedAtMs - visit.issuedAtMs > windowMs) return null
  if (isExpired(visit.issuedAtMs, install.receivedAtMs)) return null
  // At the time it was not matched to this visit, for a reason that the verdicts do not contain, such as lost state.
  if (install.resolution === 'unmatched' && before?.live === visit.visitId) return null
  return { visit, selectionPolicy: 'same_installation' }
}

/** The event that it follows is older than the replayed ones. */
function storedFollow({ selectionPolicy, visitId, visitIssuedAtMs }: DecidedInstall): CountedVisit | null {
  if (selectionPolicy !== 'same_installation' || visitId === null || visitIssuedAtMs === null) return null
  return { visitId, issuedAtMs: visitIssuedAtMs }
}
