/**
 * HotState: what must be known within a request, in atomic verbs.
 *
 * It is a cache of what the log says, plus counters: losing it loses no fact. Promises of every adapter
 * (test/contract/hot-state.contract.ts shows them): each verb is atomic against all others; a receipt's state only
 * climbs (issued, active, revoked); nothing is kept for receipts that never proved themselves.
 */

import type { VisitId, WebsiteId } from '../../domain/model.ts'

import type { SessionVerbs } from './session-verbs.ts'

export type ReceiptState = 'issued' | 'active' | 'revoked'

/**
 * What is told of a receipt. `predecessor_unknown`: it is active, and which receipt it replaced is still to be learnt, so one
 * that seems active beside it may be revoked. `unknown`: nothing is known of it (any more).
 */
export type ReceiptStanding = ReceiptState | 'predecessor_unknown' | 'unknown'

/** A receipt by what it carries itself. `issuedAtMs` says which day's state it belongs to and when that may go. */
export interface ReceiptRef {
  readonly website: WebsiteId
  readonly visitId: VisitId
  readonly issuedAtMs: number
}

/** A visit that an install was matched to. `gpc` goes along: what it matches later is bound by it too. */
export interface MatchedVisit extends ReceiptRef {
  readonly gpc: boolean
}

/** The receipt that another one replaced; null for none; `unknown` while nobody who knows could be asked. */
export type Predecessor = ReceiptRef | 'unknown' | null

export interface IssuedReceipt extends ReceiptRef {
  /** Revoked as soon as this receipt is activated. */
  readonly previous: Predecessor
}

/** `unknown`: nothing is known of this receipt (any more); the caller asks Facts and tells with `learn`. */
export type Activation =
  | { readonly kind: 'activated'; readonly revoked: Predecessor }
  /** `revoked` as at the first time, or what was learnt since, so that a caller whose record was lost can make it again. */
  | { readonly kind: 'already_active'; readonly revoked: Predecessor }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'unknown' }

export interface Claim {
  readonly website: WebsiteId
  readonly eventId: string
  readonly installationId: string
  /** Random; only its owner may settle or release a claim. */
  readonly owner: string
}

/** What an installation was matched to before, by the latest of its events that says it. */
export type Installation =
  | { readonly kind: 'matched'; readonly visit: MatchedVisit }
  /** That event is not decided yet. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'none' }
  /** The store may have forgotten it; the caller asks Facts. */
  | { readonly kind: 'unknown' }

export type ClaimOutcome =
  /** The caller is the first. `kept` is the decision of an earlier try that may have stored it, or null. */
  | { readonly kind: 'first'; readonly installation: Installation; readonly kept: string | null }
  /** Somebody was first; `answer` is what they were answered. */
  | { readonly kind: 'settled'; readonly answer: string }
  /** Somebody is first and not done; ask again. */
  | { readonly kind: 'busy' }

export interface Settlement extends Claim {
  /** The first answer in the caller's own compact form. */
  readonly answer: string
  /** A decision will replace the answer; until then the installation's visit is not known either. */
  readonly isPending?: boolean
  /** When the event was received: of several events of an installation the latest says its visit. */
  readonly receivedAtMs: number
  /** The visit this install was matched to; becomes the installation's visit. */
  readonly matched: MatchedVisit | null
}

/** What became of an install event that was pending. */
export type Decision = Omit<Settlement, 'owner' | 'isPending'>

export interface Hit {
  /** Class and keyed hash or website; must not contain a client address in the clear. */
  readonly key: string
  readonly limit: number
  readonly windowS: number
}

/** All hits are counted, or none: a refused request uses up no window. */
export type HitOutcome =
  | { readonly kind: 'counted'; readonly counts: readonly number[] }
  /** `exceeded` are indexes into the hits; `retryAfterS` is that of the longest exceeded window, at least 1. */
  | {
      readonly kind: 'exceeded'
      readonly exceeded: readonly number[]
      readonly retryAfterS: number
      readonly isFirst: boolean
    }

export interface UsageRequest {
  readonly organization: string
  /** UTC calendar month, `2026-11`. */
  readonly month: string
  /** Null: count without a limit. */
  readonly quota: number | null
}

/** So many tracked events are known to be recorded. */
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

export interface HotState extends SessionVerbs {
  putVisit(receipt: IssuedReceipt): Promise<void>
  activate(receipt: ReceiptRef): Promise<Activation>
  /** In the order asked; at most `LIMITS.receiptsPerInstall` of one website. */
  receiptStates(receipts: readonly ReceiptRef[]): Promise<readonly ReceiptStanding[]>
  /**
   * Takes over what Facts knows of a receipt; never lowers a state. An active receipt whose predecessor is unknown gets the
   * one it is told, which is thereby revoked; one that is known stays.
   */
  learn(receipt: IssuedReceipt, state: ReceiptState): Promise<void>
  claimInstall(claim: Claim): Promise<ClaimOutcome>
  /**
   * Keeps what was decided about a claimed event, in the caller's own compact form, while it is on its way to the log. It
   * outlives the claim: whoever is first next is given it. Settling forgets it.
   */
  keepInstall(claim: Claim, decision: string): Promise<void>
  settleInstall(settlement: Settlement): Promise<void>
  /** Puts the decision in place of a pending answer, or of none; a final answer stays as it is. */
  decideInstall(decision: Decision): Promise<void>
  /** Gives a claim back after a failure, so that a repeat need not wait for the lease. */
  releaseInstall(claim: Claim): Promise<void>
  /** Counts all hits in the current windows of the store's clock, or none where one is at its limit. */
  countHits(hits: readonly Hit[]): Promise<HitOutcome>
  /**
   * Takes hits back that were counted `agoMs` milliseconds ago for a request that promised nothing. What a window that is
   * over counted stays.
   */
  returnHits(hits: readonly Hit[], agoMs: number): Promise<void>
  /** Counts one tracked event unless that would pass the quota. */
  addUsage(usage: UsageRequest): Promise<UsageOutcome>
  /** Takes one tracked event back whose record could not be made durable. */
  returnUsage(usage: UsageRequest): Promise<void>
  readUsage(organization: string, month: string): Promise<number>
  /** Brings the count up to what Facts knows, where it is lower; repeating it changes nothing. */
  raiseUsage(usage: KnownUsage): Promise<void>
  /** True for one caller at a time: no two workers send one job at once. Falls back to free after `leaseMs`. */
  claimJob(jobId: string, owner: string, leaseMs: number): Promise<boolean>
  releaseJob(jobId: string, owner: string): Promise<void>
  /** A name for the present life of the store while it may have forgotten what it was told; null while it cannot have. */
  forgotten(): Promise<string | null>
  /** What had been forgotten was told again. Ignored where the store has lost something anew since `forgotten` gave this name. */
  restored(life: string): Promise<void>
  /** Resolves when what was told so far outlives this process. */
  flush(): Promise<void>
  /** `isShared` is false while an adapter counts per process because its store is away. */
  health(): { readonly isReachable: boolean; readonly isShared: boolean }
  close(): Promise<void>
}
