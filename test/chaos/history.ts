/** What a round of faults leaves behind: every call with its answer, what was broken meanwhile, and what is stored. */

/** `refused`: an answer that promises nothing; `unknown`: no answer, or a 503, so it may or may not have happened. */
export type Outcome = 'ok' | 'refused' | 'unknown'
/**
 * Why there is no answer: no process listened, the connection broke before the request was answered, it broke on a
 * connection that had been idle (which a client cannot distinguish from its end), or it took too long.
 */
export type Silence = '' | 'unreachable' | 'reset' | 'reset while idle' | 'late'
export type Kind = 'visit' | 'activation' | 'handoff' | 'event'

/** What a call to `/v1/events` said; receipts and token by the visits that they name. */
export interface SentEvent {
  readonly eventId: string
  readonly installation: string
  readonly eventType: string
  readonly receipts: readonly string[]
  /** Empty without one. */
  readonly token: string
}

export interface Call {
  /** Unique; the request carried it as its user agent. */
  readonly tag: string
  readonly kind: Kind
  readonly website: string
  /** The process that was called. */
  readonly api: string
  /** Unix ms of the machine that everything runs on. */
  readonly beganMs: number
  readonly endedMs: number
  /** 0 without an answer. */
  readonly status: number
  readonly outcome: Outcome
  /** Empty with an answer. */
  readonly silence: Silence
  readonly answer: Readonly<Record<string, any>>
  /** The visit that was made, activated or handed off; empty if no answer named it. */
  readonly visit: string
  /** Of a visit: the one it names as its predecessor, or empty. */
  readonly previous: string
  /** Of a visit: what the providers know the visitor by. */
  readonly identity: Identity | null
  readonly gpc: boolean
  readonly event: SentEvent | null
}

export interface Identity {
  readonly ga4: string
  readonly meta: string
}

export interface StoredInstall {
  readonly website: string
  readonly event_id: string
  readonly installation_id: string
  readonly event_type: string
  readonly received_at_ms: number
  readonly resolution: string
  readonly selection_policy: string
  readonly candidate_count: number
  /** Empty if nothing was matched. */
  readonly visit_id: string
  /** JSON of the answer in the row. */
  readonly answer: string
  /** JSON of its deliveries as they were planned. */
  readonly deliveries: string
  /** The tag of the call whose record this is; empty if that call is not in Logs. */
  readonly tag: string
}

export interface StoredDelivery {
  readonly website: string
  readonly event_id: string
  readonly destination: string
  readonly job_id: string
  readonly status: string
  readonly reason: string
}

/** One event that reached a provider. */
export interface Hit {
  readonly provider: 'ga4' | 'meta'
  /** The key by which the provider knows repeats. */
  readonly id: string
  readonly eventName: string
  /** Whose it is: the client ID, or Meta's browser ID. */
  readonly identity: string
  /** Whether the provider said that it took it. */
  readonly isTaken: boolean
  readonly atMs: number
}

/** What `whencectl explain --json` says of an event. */
export interface Explained {
  readonly website: string
  readonly event_id: string
  readonly resolution: string
  readonly visit_id: string
  readonly deliveries: readonly Pick<StoredDelivery, 'destination' | 'status'>[]
}

export interface StoredVisit {
  readonly visit_id: string
  readonly is_recorded: boolean
  readonly is_active: boolean
  readonly is_revoked: boolean
}

export interface Stored {
  /** How many rows of Logs carry each tag. */
  readonly logs: ReadonlyMap<string, number>
  /** What is known of every visit that a call named. */
  readonly visits: ReadonlyMap<string, StoredVisit>
  /** Visits with a row of a handoff. */
  readonly handoffs: ReadonlySet<string>
  /** All visits, whether a call named them or not. */
  readonly visitCount: number
  readonly installs: readonly StoredInstall[]
  readonly deliveries: readonly StoredDelivery[]
  readonly hits: readonly Hit[]
  readonly explained: readonly Explained[]
  readonly poisonRecords: number
}

/**
 * The part that was broken; `memory`: what Redis knows was lost or out of reach for a process; `doubt`: a process said that it could
 * not find out in time whether an event had been reported before.
 */
export type Part = 'memory' | 'log' | 'facts' | 'provider' | 'role' | 'doubt'

/** Suffix of the name of a disturbance whose process was stopped by a signal. */
export const IN_PEACE = 'stopped in peace'

/** Name of a disturbance in which every process is stopped by a signal, and replaced. */
export const ROLLING_UPGRADE = 'rolling upgrade and back'

/** Something that was broken for a while. */
export interface Disturbance {
  readonly name: string
  readonly part: Part
  /** The process that says so, of those that a process tells. */
  readonly process?: string
  readonly beganMs: number
  readonly endedMs: number
}

export interface History {
  readonly calls: readonly Call[]
  /** Every event that was answered ok, asked for once more when all had settled; no part of `calls`. */
  readonly lastCalls: readonly Call[]
  readonly stored: Stored
  readonly disturbances: readonly Disturbance[]
  /** The api that keeps a spool. */
  readonly spooling: string
}

/** A promise that was broken. */
export interface Violation {
  readonly rule: string
  readonly website: string
  /** The event or the visit concerned; empty if there is none. */
  readonly subject: string
  readonly sentence: string
  /** The call that shows it, if one does. */
  readonly call: Call | null
}

export function keyOf(row: { readonly website: string; readonly event_id: string }): string {
  return `${row.website}/${row.event_id}`
}

/** Calls to `/v1/events` by website and event ID, in the order in which they were sent. */
export function eventsOf(calls: readonly Call[]): ReadonlyMap<string, readonly EventCall[]> {
  const events = calls.filter((call): call is EventCall => call.event !== null)
  return Map.groupBy(
    events.toSorted((one, other) => one.beganMs - other.beganMs),
    ({ website, event }) => `${website}/${event.eventId}`,
  )
}

export type EventCall = Call & { readonly event: SentEvent }

/** An answer without the member that distinguishes a repeat from the first one. */
export function withoutDuplicate(answer: Readonly<Record<string, any>>): string {
  const { duplicate: _, ...rest } = answer
  return JSON.stringify(rest)
}
