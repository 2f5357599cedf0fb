/** What a provider is to the delivery worker: pure functions. What is known of it otherwise is in `domain/providers/`. */

import type { SkipReason } from '../../domain/delivery/deliveries.ts'
import type { Accepted, Job } from '../../domain/records.ts'
import type { Identities, SessionMode } from '../../domain/model.ts'
import type { ProviderId } from '../../domain/providers/index.ts'

/** A request as data. The base address is the operator's; a provider names only path and query. */
export interface ProviderRequest {
  readonly method: 'POST' | 'GET'
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What was used of the visit, for `explain`. */
  readonly sessionMode: SessionMode
  readonly detail: string
  /** Values that must not stand in what is logged of the exchange: secrets and identifiers. */
  readonly secrets: readonly string[]
  /**
   * Where mode `Validate` has nothing to ask at the provider: the faults found here, none of them meaning valid. Such a
   * request is recorded and never sent.
   */
  readonly checkedHere?: readonly string[]
  /** In mode `Validate`, where it does not hold that nothing is reported: what holds instead, for `explain`. */
  readonly validation?: string
}

/** The job cannot be sent and never will be. */
export interface Skip {
  readonly kind: 'skip'
  readonly reason: SkipReason
}

/** An answer, or what happened instead of one. `status` is 0 where no answer came. */
export interface ProviderReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Why there was no answer: `timeout`, `connection`, `unsendable`, `too_large`; empty where there was one. */
  readonly failure: string
  /** Whether the request may have reached the provider although no clear answer came. */
  readonly isUnclear: boolean
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly code: string }
  | { readonly kind: 'retry'; readonly code: string }
  | { readonly kind: 'throttled'; readonly code: string; readonly retryAfter: string | null }
  | { readonly kind: 'credentials'; readonly code: string }
  | { readonly kind: 'refused'; readonly code: string }
  /** Taken, and judged later: `reference` is what the provider is asked with. Only where it has `verdict`. */
  | { readonly kind: 'accepted'; readonly code: string; readonly reference: string }

/** What the provider says later of a delivery that it took. */
export type Verdict =
  | Outcome
  /** Not judged yet. */
  | { readonly kind: 'undecided'; readonly code: string }
  /** Judged too early: the same delivery, under the same ID, may be taken later. */
  | { readonly kind: 'resend'; readonly code: string }

export interface DestinationContext {
  /** The block of the resource as the provider's descriptor checked it, for example `{ measurementId }`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  readonly isValidateOnly: boolean
  readonly reconstructionWindowHours: number
}

export interface Provider {
  readonly id: ProviderId
  /** Pure: the same job at the same time gives the same request. */
  readonly request: (job: Job, destination: DestinationContext, nowMs: number) => ProviderRequest | Skip
  /** Pure. */
  readonly outcome: (reply: ProviderReply, destination: DestinationContext) => Outcome
  /** Made-up identifiers in the provider's own form, of a click at that moment, for `whence send-test`. */
  readonly testIdentities: (settings: Readonly<Record<string, unknown>>, atMs: number) => Identities

  /** The first moment at which the provider takes it, in Unix ms; the job is held until then. */
  readonly notBeforeMs?: (job: Job, destination: DestinationContext) => number
  /** Set where requests need an access token that is fetched with the credentials; `delivery/exchange/auth.ts` does so. */
  readonly auth?: ProviderAuth
  /** Set where the provider takes a delivery first and tells later whether it counts. */
  readonly verdict?: ProviderVerdict
  /** Set where one request can carry several deliveries of one destination. */
  readonly batch?: ProviderBatch
  /** What the provider documents that it takes in a time; nothing is sent beyond any of them. */
  readonly quotas?: readonly ProviderQuota[]
}

export interface ProviderQuota {
  /** A question about a verdict counts as neither. */
  readonly counts: 'requests' | 'deliveries'
  readonly units: number
  readonly perMs: number
  /** Whose quota it is, for example the account; no secret. Pure. */
  readonly bucketOf: (destination: DestinationContext) => string
}

export interface ProviderAuth {
  /** What is asked of the token service, or null for credentials that nothing can be made of. */
  readonly grant: (secrets: Readonly<Record<string, string>>) => OauthGrant | null
}

/** The two ways in which a server gets an access token of OAuth 2.0 without a person. */
export type OauthGrant =
  /** RFC 6749, section 6. */
  | {
      readonly kind: 'refresh_token'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
    }
  /** RFC 7523: an assertion signed with RS256. `audience` is named in it, and is not where it is sent. */
  | {
      readonly kind: 'assertion'
      readonly issuer: string
      readonly privateKeyPem: string
      readonly keyId: string
      readonly scope: string
      readonly audience: string
    }

/** A job that was taken has `accepted`; until it is judged these stand in for `request` and `outcome`. */
export interface ProviderVerdict {
  /** Pure. */
  readonly request: (accepted: Accepted, destination: DestinationContext) => ProviderRequest
  /** Pure. The kinds mean what they mean for the delivery, except that `retry` and `throttled` ask once more. */
  readonly outcome: (reply: ProviderReply) => Verdict
}

/**
 * Several deliveries of one destination, and so of one set of credentials, in one request. The caller leaves out jobs for
 * which `Provider.request` gives a skip, and passes at most `maxJobs`.
 */
export interface ProviderBatch {
  /** As many as one answer can be told apart for; at most what the provider documents. */
  readonly maxJobs: number
  /** Pure. The body holds the jobs in their order; `secrets` are those of all of them. */
  readonly request: (jobs: readonly Job[], destination: DestinationContext, nowMs: number) => ProviderRequest
  /**
   * Pure. One outcome per job, in their order. `split` where the provider refused all of them and the fault may be one
   * job's: each half is then sent by itself, down to single jobs, which `Provider.outcome` judges.
   */
  readonly outcomes: (
    reply: ProviderReply,
    jobs: readonly Job[],
    destination: DestinationContext,
  ) => readonly Outcome[] | 'split'
}
