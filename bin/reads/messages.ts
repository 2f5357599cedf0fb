/** What the thread of the requests and the thread of reads ask of each other. */

import type { Refusal } from '../../domain/errors.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { ExportControl } from '../../dashboard/exports/handlers.ts'
import type { READING_ROUTES } from '../../dashboard/reading.ts'
import type { Call, WrittenAnswer } from '../../dashboard/http/call.ts'
import type { ReadWebsite } from '../../dashboard/reads/scope.ts'
import type { EngineSettings } from '../../ports/facts/engine/connection.ts'
import type { FactTable } from '../../ports/facts/columns.ts'
import type { FactRow } from '../../ports/facts/facts.ts'
import type { StatementShare, QueryParameters, Turn } from '../../ports/facts/query-rows.ts'
import type { SettingsNamed } from '../../runtime/settings/settings-of.ts'
import type { Moved } from './channel.ts'

/** What the thread of reads is started with. */
export interface ReadThreadData extends SettingsNamed<'logLevel' | 'logFormat'> {
  /** Of the keyring: the one that signs first. */
  readonly secrets: readonly string[]
  /** Further settings of statements that no request waits for. */
  readonly yielding: EngineSettings
}

/** A call of a route, without what cannot be copied. */
export interface CarriedCall extends Omit<Call, 'search' | 'signal'> {
  /** Of the organisation; only the one that the query names, if it names one. */
  readonly websites: readonly ReadWebsite[]
}

/** The head of a streamed answer; its chunks are asked for one after another. */
interface StreamHead {
  readonly kind: 'stream'
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether it is to be checked while it is sent that the person still has the right to it. */
  readonly isChecked: boolean
}

export type CarriedOutcome = Refusal | WrittenAnswer | StreamHead

/** Offered by the thread of reads. `request` is the ID of a call. */
export type ReadOffers = {
  readonly handle: (
    asked: { readonly route: (typeof READING_ROUTES)[number]; readonly call: CarriedCall },
    signal: AbortSignal,
  ) => Promise<CarriedOutcome | Moved<CarriedOutcome>>
  /** The next chunk of a streamed answer; null: that was the last one. */
  readonly next: (request: string) => Promise<Moved<Uint8Array> | null>
  readonly mayGoOn: (request: string) => Promise<boolean>
  /** Ends a streamed answer, also one that nobody has read from. */
  readonly leave: (request: string) => Promise<void>
  /** Finishes the open replays of decisions; times are counted from `nowMs`. */
  readonly runReplays: (asked: { readonly nowMs: number }, signal: AbortSignal) => Promise<void>
}

/** Offered by the thread of the requests. */
export type MainOffers = {
  /** Rows as lines of JSON. */
  readonly lines: (
    asked: {
      readonly statement: string
      readonly parameters: QueryParameters
      readonly turn: Turn
      readonly share: StatementShare | undefined
    },
    signal: AbortSignal,
  ) => Promise<Moved<Uint8Array>>
  readonly insert: (asked: { readonly table: FactTable; readonly rows: readonly FactRow[] }) => Promise<void>
  readonly countHits: ExportControl['hotState']['countHits']
  readonly noteActivity: ExportControl['noteActivity']
  readonly stillAllowed: (asked: { readonly request: string; readonly least: MemberRole }) => Promise<boolean>
}
