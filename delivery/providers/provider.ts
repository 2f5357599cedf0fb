/** A provider as the delivery worker uses it: pure functions. Other facts about it are in `domain/providers/`. */

import type { SkipReason } from '../../domain/reasons.ts'
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
  /** The parts of the visit that were used, for `explain`. */
  readonly sessionMode: SessionMode
  readonly detail: string
  /** Values that must not be logged: secrets and identifiers. */
  readonly secrets: readonly string[]
  /** For `Validate` without a test endpoint: our findings; empty = valid. Such a request is recorded and never sent. */
  readonly checkedHere?: readonly string[]
  /** In mode `Validate`, the text for `explain` if the usual "nothing is reported" is wrong. */
  readonly validation?: string
}

/** The job cannot be sent and never will be. */
export interface Skip {
  readonly kind: 'skip'
  readonly reason: SkipReason
}

/** An answer, or the reason why there is none. `status` is 0 if no answer came. */
export interface ProviderReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Why there was no answer: `timeout`, `connection`, `unsendable`, `too_large`; empty if there was one. */
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
  /** Accepted, and judged later: `reference` is for requesting the verdict. Only if the provider has `verdict`. */
  | { readonly kind: 'accepted'; readonly code: string; readonly reference: string }

/** The provider's later verdict on a delivery that it accepted. */
export type Verdict =
  | Outcome
  /** Not judged yet. */
  | { readonly kind: 'undecided'; readonly code: string }
  /** Judged too early: the same delivery, under the same ID, may be accepted later. */
  | { readonly kind: 'resend'; readonly code: string }

export interface DestinationContext {
  /** The block of the resource as the provider's descriptor checked it, for example `{ measurementId }`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  readonly isValidateOnly: boolean
  readonly reconstructionWindowHours: number
}

/** When deliveries to a provider are sent, and how many of them together. */
export interface ProviderPacing {
  /** The first moment at which the provider accepts it, in Unix ms; the job is held until then. */
  readonly notBeforeMs?: (job: Job, destination: DestinationContext) => number
  /** Set if the provider accepts a delivery first and judges it later. */
  readonly verdict?: ProviderVerdict
  /** Set if one request can carry several deliveries of one destination. */
  readonly batch?: ProviderBatch
  /** The provider's documented limits per period; nothing is sent beyond any of them. */
  readonly quotas?: readonly ProviderQuota[]
}

export interface Provider extends ProviderPacing {
  readonly id: ProviderId
  /** Pure: the same job at the same time gives the same request. */
  readonly request: (job: Job, destination: DestinationContext, nowMs: number) => ProviderRequest | Skip
  /** Pure. */
  readonly outcome: (reply: ProviderReply, destination: DestinationContext) => Outcome
  /** Made-up identifiers in the provider's own form, of a click at that moment, for `whencectl send-test`. */
  readonly testIdentities: (settings: Readonly<Record<string, unknown>>, atMs: number) => Identities

  /** Set if requests need an access token that is fetched with the credentials; `delivery/exchange/auth.ts` does so. */
  readonly auth?: ProviderAuth
}

export interface ProviderQuota {
  /** Requests for a verdict count as neither. */
  readonly counts: 'requests' | 'deliveries'
  readonly units: number
  readonly perMs: number
  /** The owner of the quota, for example the account; no secret. Pure. */
  readonly bucketOf: (destination: DestinationContext) => string
}

interface ProviderAuth {
  /** The request to the token service, or null for unusable credentials. */
  readonly grant: (secrets: Readonly<Record<string, string>>) => OauthGrant | null
}

/** The two ways for a server to get an OAuth 2.0 access token without a person. */
export type OauthGrant =
  /** RFC 6749, section 6. */
  | {
      readonly kind: 'refresh_token'
      readonly clientId: string
      readonly clientSecret: string
      readonly refreshToken: string
    }
  /** RFC 7523: an assertion signed with RS256. `audience` is part of it, not the address it is sent to. */
  | {
      readonly kind: 'assertion'
      readonly issuer: string
      readonly privateKeyPem: string
      readonly keyId: string
      readonly scope: string
      readonly audience: string
    }

/** An accepted job has `accepted`; until it is judged these replace `request` and `outcome`. */
interface ProviderVerdict {
  /** Pure. */
  readonly request: (accepted: Accepted, destination: DestinationContext) => ProviderRequest
  /** Pure. Outcomes apply to the delivery, except that `retry` and `throttled` repeat the request for the verdict. */
  readonly outcome: (reply: ProviderReply) => Verdict
}

/**
 * Several deliveries of one destination, and so with one set of credentials, in one request. The caller leaves out jobs
 * for which `Provider.request` returns a skip, and passes at most `maxJobs`.
 */
export interface ProviderBatch {
  /** As many as one answer can distinguish; at most the provider's documented limit. */
  readonly maxJobs: number
  /** Pure. The body holds the jobs in their order; `secrets` are those of all of them. */
  readonly request: (jobs: readonly Job[], destination: DestinationContext, nowMs: number) => ProviderRequest
  /**
   * Pure. One outcome per job, in their order. `split` if the provider refused all of them and one job may be at fault:
   * each half is then sent separately, down to single jobs, which `Provider.outcome` judges.
   */
  readonly outcomes: (
    reply: ProviderReply,
    jobs: readonly Job[],
    destination: DestinationContext,
  ) => readonly Outcome[] | 'split'
}
