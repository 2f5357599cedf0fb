/**
 * HotState: the data that must be known within a request, with atomic operations ("verbs").
 *
 * It caches what the log holds, and keeps counters: losing it loses no fact. Promises of every adapter (held by
 * test/contract/hot-state.contract.ts): each verb is atomic with respect to all others; a receipt's state only moves forward
 * (issued, active, revoked); nothing is kept for receipts that were never verified.
 */

import type { OwnedWebsite, VisitId } from '../../domain/model.ts'
import type { ReceiptStanding, ReceiptState } from '../../domain/receipt-states.ts'

import type { SessionVerbs } from './session-verbs.ts'

/**
 * A receipt, by the data that it carries. `issuedAtMs` gives the day to which its state belongs, and when that state
 * expires.
 */
export interface ReceiptRef extends OwnedWebsite {
  readonly visitId: VisitId
  readonly issuedAtMs: number
}

/** A visit that an install was matched to. `gpc` is kept too: it also binds later matches. */
export interface MatchedVisit extends ReceiptRef {
  readonly gpc: boolean
}

/** The receipt that another one replaced; null for none; `unknown` until it can be looked up. */
export type Predecessor = ReceiptRef | 'unknown' | null

export interface IssuedReceipt extends ReceiptRef {
  /** Revoked as soon as this receipt is activated. */
  readonly previous: Predecessor
}

/** `unknown`: nothing is known of this receipt (any more); the caller reads Facts and passes the result to `learn`. */
export type Activation =
  | { readonly kind: 'activated'; readonly revoked: Predecessor }
  /** `revoked` as it was the first time, or as learnt since, so that a caller whose record was lost can write it again. */
  | { readonly kind: 'already_active'; readonly revoked: Predecessor }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'unknown' }

/** Which event it is, of which installation. */
export interface InstallEventRef extends OwnedWebsite {
  readonly eventId: string
  readonly installationId: string
}

export interface Claim extends InstallEventRef {
  /** Random; only its owner may settle or release a claim. */
  readonly owner: string
}

/** The earlier match of an installation, by the latest of its events that has a result. */
export type Installation =
  | { readonly kind: 'matched'; readonly visit: MatchedVisit }
  /** That event is not decided yet, or its decision is kept and may have been stored. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'none' }
  /** The store may have forgotten it; the caller reads Facts. */
  | { readonly kind: 'unknown' }

export type ClaimOutcome =
  /**
   * The caller is the first as far as the store knows. `kept` is the decision of an earlier try that may have been stored, or null.
   * `isNew` is false if the store may have forgotten an earlier report of the event: the caller looks whether there is one.
   */
  | {
      readonly kind: 'first'
      readonly installation: Installation
      readonly kept: string | null
      readonly isNew: boolean
    }
  /** Another caller was first and got this `answer`. */
  | { readonly kind: 'settled'; readonly answer: string }
  /** Another caller is first and not done; try again. */
  | { readonly kind: 'busy' }

/** What is known of an event once it was answered. */
interface EventAnswer extends InstallEventRef {
  /** The first answer in the caller's own compact form. */
  readonly answer: string
  /** When the event was received; the latest event of an installation decides its visit. */
  readonly receivedAtMs: number
  /** The visit this install was matched to; becomes the installation's visit. */
  readonly matched: MatchedVisit | null
}

export interface Settlement extends EventAnswer, Claim {
  /** A decision will replace the answer; until then the installation's visit is not known either. */
  readonly isPending?: boolean
}

/** The decision about an install event that was pending. */
export interface DecidedAnswer extends EventAnswer {
  /**
   * It is what the facts hold. Its installation then gets the visit even if another answer is final: after a loss that may
   * be the answer to a repeat, which named another installation.
   */
  readonly isStored?: boolean
}

export interface Hit {
  /** Class and keyed hash or website; must not contain a client address in the clear. */
  readonly key: string
  readonly limit: number
  readonly windowS: number
}

/** All hits are counted, or none: a refused request uses up no window. */
export type HitOutcome =
  | { readonly kind: 'counted'; readonly counts: readonly number[] }
  /** `exceeded` are indexes into the hits; `retryAfterS` is for the longest exceeded window, at least 1. */
  | {
      readonly kind: 'exceeded'
      readonly exceeded: readonly number[]
      readonly retryAfterS: number
      readonly isFirst: boolean
    }

export interface UsageMonth {
  readonly organization: string
  /** UTC calendar month, `2026-11`. */
  readonly month: string
}

export interface UsageRequest extends UsageMonth {
  /** Null: count without a limit. */
  readonly quota: number | null
}

/** At least this many tracked events are recorded. */
export interface KnownUsage {
  readonly organization: string
  /** UTC calendar month, `2026-11`. */
  readonly month: string
  readonly atLeast: number
}

/** `isOver`: the quota was used up and nothing was counted. `isFirstOver` is true once per organisation and month. */
export interface UsageOutcome {
  readonly used: number
  readonly isOver: boolean
  readonly isFirstOver: boolean
}

export interface Loss {
  /** An ID of the store's present generation. */
  readonly generation: string
  /** Only answers to installs that were received from then on (Unix ms); null if everything may be lost. */
  readonly sinceMs: number | null
  /** How often something was lost so far. */
  readonly losses: string
}

/** Receipts and their states. */
export interface ReceiptVerbs {
  putVisit(receipt: IssuedReceipt): Promise<void>
  activate(receipt: ReceiptRef): Promise<Activation>
  /**
   * In the order of `receipts`; at most `LIMITS.receiptsPerInstall`, all of one website. A store of several processes calls an
   * issued receipt unknown while one of them may hold its activation.
   */
  receiptStates(receipts: readonly ReceiptRef[]): Promise<readonly ReceiptStanding[]>
  /**
   * Takes over what Facts knows of a receipt; never lowers a state. If an active receipt's predecessor is unknown, it becomes
   * the one given here, which is then revoked; a known predecessor stays.
   */
  learn(receipt: IssuedReceipt, state: ReceiptState): Promise<void>
}

/** Install events: who decides one, and what was answered. */
export interface InstallVerbs {
  /**
   * While the store is not complete, or another process may hold answers that it does not have, an event that it does not know is
   * not surely new, and an installation that it does not know is `unknown`.
   */
  claimInstall(claim: Claim): Promise<ClaimOutcome>
  /**
   * Keeps the decision about a claimed event while it is written to the log. It outlives the claim: the next first caller
   * gets it, and settling deletes it. Until then the installation is `pending`, unless something else is known about it.
   * `decision` makes the caller's own compact form; it is called if that has to be stored or read, which it seldom has in
   * one process.
   */
  keepInstall(claim: Claim, decision: () => string): Promise<void>
  settleInstall(settlement: Settlement): Promise<void>
  /** Replaces a pending or missing answer by the decision; a final answer stays. */
  decideInstall(decision: DecidedAnswer): Promise<void>
  /** Releases a claim after a failure, so that a retry need not wait for the lease to end. */
  releaseInstall(claim: Claim): Promise<void>
}

/** Counts in windows of time. */
export interface HitCounter {
  /** Counts all hits in the current windows of the store's clock, or none if one is at its limit. */
  countHits(hits: readonly Hit[]): Promise<HitOutcome>
}

/** Counts that can be taken back. */
export interface HitVerbs extends HitCounter {
  /**
   * Takes back hits that were counted `agoMs` milliseconds ago for a request that was not accepted. Counts of windows
   * that have ended stay.
   */
  returnHits(hits: readonly Hit[], agoMs: number): Promise<void>
}

/** Tracked events of a month. */
export interface UsageVerbs {
  /** Counts one tracked event unless that would exceed the quota. */
  addUsage(usage: UsageRequest): Promise<UsageOutcome>
  /** Takes back one tracked event whose record could not be made durable. */
  returnUsage(usage: UsageRequest): Promise<void>
  readUsage(organization: string, month: string): Promise<number>
  /** Raises the count to what Facts knows, if it is lower; repeating this changes nothing. */
  raiseUsage(usage: KnownUsage): Promise<void>
}

/** Who sends a job. */
export interface JobVerbs {
  /** True for one caller at a time, so that no two workers send one job at once. The claim expires after `leaseMs`. */
  claimJob(jobId: string, owner: string, leaseMs: number): Promise<boolean>
  releaseJob(jobId: string, owner: string): Promise<void>
}

/** What the store may have lost. */
export interface LossVerbs {
  /** What the store may have lost; null if it cannot have lost anything. */
  forgotten(): Promise<Loss | null>
  /** That has been restored. Ignored if the store has lost something again since `forgotten` returned this. */
  restored(loss: Loss): Promise<void>
}

/** Tells whether the store answers. */
export interface StoreStatus {
  /** `isShared` is false while an adapter counts per process because its store is unreachable. */
  health(): { readonly isReachable: boolean; readonly isShared: boolean }
}

/** The store itself. */
export interface StoreVerbs extends StoreStatus {
  /** Resolves once all writes so far are durable. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** The whole hot state; whoever needs one part of it names that part. */
export interface HotState
  extends ReceiptVerbs, InstallVerbs, HitVerbs, UsageVerbs, JobVerbs, LossVerbs, StoreVerbs, SessionVerbs {}
