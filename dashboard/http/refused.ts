/**
 * Says where people look that a limit was reached in the dashboard: of a rate in the organisation's Logs, each request
 * without its body, up to a number a second; of any limit in its activity, once a minute for each client.
 */

import type { IncomingMessage } from 'node:http'

import { createWindowCounts } from '../../common/window-counts.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ActivityType } from '../../domain/reasons.ts'
import type { Refusal } from '../../domain/errors.ts'
import { encodeRecord, recordKey, type ActivityRecord, type RequestRecord } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import type { DirectoryOrganization } from '../resources/directory.ts'

interface RefusedCaller {
  /** The person who sent the request; null if nobody is signed in. */
  readonly person: string | null
  readonly addressHash: string
}

export interface RefusedRequest {
  readonly organization: DirectoryOrganization
  readonly req: IncomingMessage
  /** The route's pattern: the path itself may name people. */
  readonly route: string
  readonly outcome: Refusal
  readonly by: RefusedCaller
  readonly durationMs: number
}

interface RefusedParts {
  readonly eventLog: LogWriter
  readonly hotState: HitCounter
  readonly randomness: Randomness
  readonly nowMs: () => number
  readonly logger: Logger
  /** Counts what is neither in Logs nor in activity. */
  readonly countShed: () => void
}

const WINDOW_S = 60
const STATUS = 429
const LINE_CHARS = 512

/**
 * Never waits and never throws. What is beyond the number a second costs neither the log nor the hot state anything and is counted;
 * so is an entry that the log does not take, as for collection.
 */
export function noteRefused(parts: RefusedParts): (refused: RefusedRequest) => void {
  const ofOrganizations = createWindowCounts(SECOND_MS, parts.nowMs)
  const ofProcess = createWindowCounts(SECOND_MS, parts.nowMs)
  const leftOut = (error: unknown): void => {
    parts.countShed()
    parts.logger.warn({ err: error }, 'a refusal was not recorded')
  }
  return (refused) => {
    const isWithin =
      ofOrganizations.count(refused.organization.id) <= LIMITS.dashboardRefusalsPerS &&
      ofProcess.count('') <= LIMITS.loggedRefusalsPerS
    if (!isWithin) return parts.countShed()
    if (refused.outcome.code === 'rate_limited')
      appendRecord(parts, 'requests', requestRecordOf(refused, parts)).catch(leftOut)
    noteOnce(refused, parts).catch(leftOut)
    return undefined
  }
}

function appendRecord(
  { eventLog }: RefusedParts,
  topic: 'requests' | 'activity',
  record: ActivityRecord | RequestRecord,
): Promise<void> {
  const named = record.kind === 'request' ? record.request : record
  return eventLog.append(topic, [{ key: recordKey(named, named.id), value: encodeRecord(record) }])
}

function requestRecordOf(
  { organization, req, route, by, durationMs }: RefusedRequest,
  { randomness, nowMs }: RefusedParts,
): RequestRecord {
  const receivedAtMs = nowMs() - durationMs
  return {
    v: 1,
    kind: 'request',
    isOfDashboard: true,
    request: {
      id: timeOrderedId(randomness, receivedAtMs),
      receivedAtMs,
      durationMs,
      website: '',
      organization: organization.id,
      method: req.method ?? '',
      path: route,
      status: STATUS,
      code: 'rate_limited',
      origin: clipped(req.headers.origin),
      userAgent: clipped(req.headers['user-agent']),
      addressHash: by.addressHash,
      body: '',
      bodyForm: 'none',
      bodyBytes: 0,
      isRedacted: false,
      logRetentionDays: organization.logRetentionDays,
    },
  }
}

function clipped(text = ''): string {
  return text.toWellFormed().slice(0, LINE_CHARS)
}

async function noteOnce(
  { organization, outcome, by: { person: actor, addressHash } }: RefusedRequest,
  parts: RefusedParts,
): Promise<void> {
  const { type, limit, message } = reachedLimit(outcome)
  const told = { key: `told:${limit}:${organization.id}:${addressHash}`, limit: 1, windowS: WINDOW_S }
  if ((await parts.hotState.countHits([told])).kind !== 'counted') return
  const atMs = parts.nowMs()
  await appendRecord(parts, 'activity', {
    v: 1,
    kind: 'activity',
    id: timeOrderedId(parts.randomness, atMs),
    atMs,
    organization: organization.id,
    website: '',
    type,
    subject: limit,
    message,
    ...(actor === null ? {} : { actor }),
    logRetentionDays: organization.logRetentionDays,
  })
}

interface ReachedLimit {
  readonly type: ActivityType
  readonly limit: string
  readonly message: string
}

function reachedLimit(refusal: Refusal): ReachedLimit {
  const limit = limitIn(refusal)
  if (refusal.code === 'rate_limited')
    return { type: 'rate_limit_reached', limit, message: `The rate limit "${limit}" was reached.` }
  const told = refusal.extra?.['message']
  const message =
    typeof told === 'string' ? `A creation was refused: ${told}.` : `The plan does not allow more of "${limit}".`
  return { type: 'plan_limit_reached', limit, message }
}

/** Name of the limit that was reached, of a rate or of the plan. */
export function limitIn({ code, rule = '', extra }: Refusal): string {
  if (code === 'rate_limited') return rule
  const named = extra?.['limit']
  return typeof named === 'string' ? named : code
}

/** Whether a limit of the organisation was reached. A process that ends asks for patience, too, without a limit. */
export function isLimit({ code, rule }: Refusal): boolean {
  return code === 'rate_limited' ? rule !== undefined : code === 'plan_limit' || code === 'plan_required'
}
