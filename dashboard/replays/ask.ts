/** Puts the request for a replay on the event log, where the role `rollup` finds it. */

import { DAY_MS } from '../../domain/durations.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { encodeRecord, recordKey, type ReplayRecord } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import { timeOrderedId, type Randomness } from '../../runtime/random.ts'
import { answerAccepted, type CallTo } from '../http/call.ts'
import { refuseByRate, replayHit } from '../http/limits.ts'
import type { ReadScope } from '../reads/scope.ts'
import { untilStored } from '../reads/until-stored.ts'
import type { Directory } from '../resources/directory.ts'
import type { WatchedReplay } from './watch.ts'

export interface AskParts {
  readonly scope: ReadScope
  readonly directory: Directory
  readonly hotState: HitCounter
  readonly eventLog: LogWriter
  readonly randomness: Randomness
  /** Ends it if the person loses the right to it. */
  readonly watch: (replay: WatchedReplay) => void
}

/** Rejects like `EventLog.append`: once it resolves, the request cannot be lost. */
export function askReplay({ scope, directory, hotState, eventLog, randomness, watch }: AskParts) {
  return scope(async ({ organization, run }, call: CallTo<'askReplay'>) => {
    const { website } = call.body
    const found = directory.websites(organization.id).find(({ id }) => id === website)
    if (found === undefined) return refuse('not_found')
    const asked = replayRecord(call, timeOrderedId(randomness, call.nowMs))
    if (asked.sinceMs >= asked.untilMs) {
      return refuse('invalid_field', { field: '/since', message: 'must be before until' })
    }
    if (asked.untilMs - asked.sinceMs > LIMITS.replayPeriodMs) {
      const message = `must be at most ${LIMITS.replayPeriodMs / DAY_MS} days before until`
      return refuse('invalid_field', { field: '/since', message })
    }
    const limited = await refuseByRate([replayHit(organization.id)], hotState)
    if (limited !== null) return limited
    // What is older than the website keeps now is hidden from replays too.
    const keptSinceMs = Math.min(asked.untilMs, call.nowMs - found.retentionDays * DAY_MS)
    const record = { ...asked, sinceMs: Math.max(asked.sinceMs, keptSinceMs) }
    await eventLog.append('replays', [{ key: recordKey(record, record.id), value: encodeRecord(record) }])
    watch({ ...record, asked_at_ms: record.askedAtMs })
    await untilStored(async () => (await run('replayById', { id: record.id })).length > 0, {
      pausesMs: PAUSES_MS,
      signal: call.signal,
    })
    return answerAccepted({ id: record.id })
  })
}

/** Before each look. The median row is stored 0.2 s after its entry of the log, and 99 of 100 within 0.34 s (docs/performance.md). */
const PAUSES_MS = [100, 100, 100, 200, 300] as const

function replayRecord(call: CallTo<'askReplay'>, id: string): ReplayRecord {
  const { body, nowMs } = call
  const { website, policy, windowDays, since } = body
  return {
    v: 1,
    kind: 'replay',
    id,
    organization: call.scope.organization.id,
    website,
    askedAtMs: nowMs,
    policy: {
      policy,
      windowMs: windowDays === undefined ? LIMITS.receiptLifetimeMs : windowDays * DAY_MS,
      isTokensOnly: body.tokensOnly === true,
    },
    sinceMs: since,
    // Whether installs that are received meanwhile count would be a matter of chance. Those that are not stored yet do not.
    untilMs: Math.min(body.until ?? nowMs, nowMs),
    session: call.session.id,
  }
}
