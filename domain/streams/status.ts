/** Decides what the status of a LogStream shows of its delivery, and when a change is worth a write. */

import { MINUTE_MS } from '../durations.ts'
import { type StreamState, STREAM_STATES } from './pace.ts'
import { type Condition, conditionsIn } from '../resources/conditions.ts'
import { settledCount } from '../resources/traffic.ts'
import { isNumber, isText, isOneOf, orAbsent, shapeOf } from '../guards.ts'
import { presentOf } from '../typed-keys.ts'

/** The progress of a stream, as the role that sends it stored it. Times are Unix ms. */
export interface StreamReport {
  readonly organization: string
  /** Namespace and name. */
  readonly stream: string
  readonly state: StreamState
  readonly behind: number
  readonly oldestMs: number | null
  readonly deliveredMs: number | null
  readonly failingSinceMs: number | null
  readonly lastError: string
  readonly dropped: number
}

/** As in `status`; times are RFC 3339. */
export interface ShownStream {
  readonly state: StreamState
  readonly behindRecords: number
  readonly oldest?: string
  readonly lastDeliveredAt?: string
  readonly lastError?: string
  readonly dropped: number
  readonly conditions: readonly [Condition]
}

const isStanding = shapeOf<Omit<ShownStream, 'conditions'>>({
  state: isOneOf(STREAM_STATES),
  behindRecords: isNumber,
  oldest: orAbsent(isText),
  lastDeliveredAt: orAbsent(isText),
  lastError: orAbsent(isText),
  dropped: isNumber,
})

/** A healthy stream is not written for every batch. */
const DELIVERED_BAND_MS = 10 * MINUTE_MS

/** The status to show; `before`, the same object that is shown so far, if no change is worth a write. */
export function shownStream(report: StreamReport, before: ShownStream | null, nowMs: number): ShownStream {
  const { state, behind, oldestMs, lastError, dropped } = report
  const next: ShownStream = {
    state,
    behindRecords: settledCount(behind, before?.behindRecords),
    dropped,
    ...timeField('oldest', oldestMs === null ? null : Math.floor(oldestMs / MINUTE_MS) * MINUTE_MS),
    ...timeField('lastDeliveredAt', settledDelivery(report, before)),
    ...(lastError === '' ? {} : { lastError }),
    conditions: [deliveringOf(report, before?.conditions[0], nowMs)],
  }
  return before !== null && comparedText(before) === comparedText(next) ? before : next
}

/** The shown time stays while it is close enough and the state is the same. */
function settledDelivery({ state, deliveredMs }: StreamReport, before: ShownStream | null): number | null {
  const shownMs = Date.parse(before?.lastDeliveredAt ?? '')
  const isNear = deliveredMs !== null && deliveredMs - shownMs < DELIVERED_BAND_MS
  return isNear && before?.state === state ? shownMs : deliveredMs
}

function timeField(name: 'oldest' | 'lastDeliveredAt', atMs: number | null): Partial<ShownStream> {
  return atMs === null ? {} : { [name]: rfc3339(atMs) }
}

/** All other conditions belong to other writers. */
export function readShownStream(there: unknown): ShownStream | null {
  const own = conditionsIn(there).find(({ type }) => type === 'Delivering')
  if (own === undefined || !isStanding(there)) return null
  const { type, status, reason, message, lastTransitionTime } = own
  const { state, behindRecords, oldest, lastDeliveredAt, lastError, dropped } = there
  return {
    state,
    behindRecords,
    ...presentOf({ oldest, lastDeliveredAt, lastError }),
    dropped,
    conditions: [{ type, status, reason, message, lastTransitionTime }],
  }
}

const MESSAGES: { readonly [S in StreamState]?: (report: StreamReport) => string } = {
  Failing: ({ lastError }) => `the last batch was not accepted (${lastError}); it is tried again`,
  NotVerified: ({ lastError }) =>
    lastError === ''
      ? 'the address has not been asked yet'
      : `the address has not returned the challenge (${lastError})`,
  Paused: () => 'spec.paused is set',
}

function deliveringOf(report: StreamReport, before: Condition | undefined, nowMs: number): Condition {
  const message = MESSAGES[report.state]?.(report) ?? ''
  const status = message === '' ? 'True' : 'False'
  const reason = message === '' ? 'Delivering' : report.state
  const since = before?.status === status ? before.lastTransitionTime : rfc3339(report.failingSinceMs ?? nowMs)
  return { type: 'Delivering', status, reason, message, lastTransitionTime: since }
}

function comparedText({ conditions, ...fields }: ShownStream): string {
  const [{ status, reason, message }] = conditions
  return JSON.stringify([Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)), status, reason, message])
}

function rfc3339(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`
}
