/** What a provider is to the delivery worker: two pure functions and a few facts. One file and one line add another. */

import type { SkipReason } from '../domain/deliveries.ts'
import type { Job } from '../domain/records.ts'
import type { ProviderId, SessionMode } from '../domain/model.ts'

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

export interface DestinationContext {
  /** The block of the resource as `domain/provider-blocks.ts` checked it, for example `{ measurementId }`. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  readonly isValidateOnly: boolean
  readonly reconstructionWindowHours: number
}

export interface Provider {
  readonly id: ProviderId
  /** Names of the credentials a destination must have, as keys of `DestinationContext.secrets`. */
  readonly secretNames: readonly string[]
  /** The oldest install the provider takes, in ms; a job's deadline is received time plus this at the latest. */
  readonly maxAgeMs: number
  /** Pure: the same job at the same time gives the same request. */
  readonly request: (job: Job, destination: DestinationContext, nowMs: number) => ProviderRequest | Skip
  /** Pure. */
  readonly outcome: (reply: ProviderReply, destination: DestinationContext) => Outcome
}
