/** What was asked of other policies, how far each replay is, and what came out. */

import { parsedAs } from '../../domain/guards.ts'
import {
  REPLAY_CANCELLED,
  replaySubject,
  type UnfinishedReplay,
  isReplayResult,
  isUnfinishedReplay,
  policyOf,
} from '../../domain/collection/replay-decision.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ReplayLineRow } from '../../ports/facts/pages/replay.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { ReadScope, ScopedQueries } from '../reads/scope.ts'

const MOST_LINES = 100

interface ShowParts {
  readonly scope: ReadScope
}

export function listReplays({ scope }: ShowParts) {
  return scope(async (reads) => {
    const rows = await reads.run('replayLines', { limit: MOST_LINES })
    const ids = rows.filter(({ state }) => state === 'failed').map(({ id }) => id)
    const failed = ids.length === 0 ? [] : await reads.run('failedReplays', { ids })
    const results = new Map(failed.map(({ id, result }) => [id, result]))
    const lines = await withCancelled(
      rows.map((row) => ({ ...row, result: results.get(row.id) ?? '' })),
      reads,
    )
    return answer({ replays: lines.map(replayLine) })
  })
}

export function showReplay({ scope }: ShowParts) {
  return scope(async (reads, call: CallTo<'showReplay'>) => {
    const [row] = await withCancelled(await reads.run('replayById', { id: call.params.replay }), reads)
    if (row === undefined) return refuse('not_found')
    const result = row.state === 'done' ? parsedAs(isReplayResult, row.result) : null
    const from = call.query.from ?? 0
    const changes = result?.changes.slice(from, from + LIMITS.logsPerPage) ?? []
    return answer({ ...replayLine(row), result: result === null ? null : { ...result, changes } })
  })
}

/**
 * A replay may be done before the role reads that it was cancelled, as the entry takes a moment to reach the facts. Whoever cancelled it was told
 * that it has no result.
 */
async function withCancelled(
  rows: readonly ReplayLineRow[],
  { run }: ScopedQueries,
): Promise<readonly ReplayLineRow[]> {
  const done = rows.filter(({ state }) => state === 'done')
  if (done.length === 0) return rows
  const since_ms = Math.min(...done.map((row) => row.asked_at_ms)) - LIMITS.clockSkewMs
  const subjects = done.map(({ id }) => replaySubject(id))
  const found = await run('cancelledReplays', { subjects, since_ms, type: REPLAY_CANCELLED })
  const cancelled = new Set(found.map(({ subject }) => subject))
  return rows.map((row) =>
    row.state === 'done' && cancelled.has(replaySubject(row.id)) ? { ...row, ...CANCELLED } : row,
  )
}

const CANCELLED = {
  state: 'failed',
  result: JSON.stringify({ starts: 1, failure: 'cancelled' } satisfies UnfinishedReplay),
} as const

type StoredFailure = NonNullable<UnfinishedReplay['failure']>

/** Null unless it has failed. */
function storedFailure({ state, result }: ReplayLineRow): StoredFailure | null {
  return state === 'failed' ? (parsedAs(isUnfinishedReplay, result)?.failure ?? 'failed') : null
}

export function replayState(row: ReplayLineRow): ReplayLineRow['state'] | 'cancelled' {
  return storedFailure(row) === 'cancelled' ? 'cancelled' : row.state
}

/** A cancelled one is stored as failed, but has not failed. */
function shownFailure(row: ReplayLineRow): Exclude<StoredFailure, 'cancelled'> | null {
  const failure = storedFailure(row)
  return failure === 'cancelled' ? null : failure
}

/** `progress` is the part of the period that is decided again, from 0 to 1. */
function replayLine(row: ReplayLineRow) {
  const { since_ms: since, until_ms: until, reached_ms: reached } = row
  const part = reached === null ? 0 : (reached - since) / (until - since)
  return {
    id: row.id,
    website: row.website,
    askedAt: row.asked_at_ms,
    since,
    until,
    policy: policyOf(row.policy),
    windowDays: row.window_ms / DAY_MS,
    tokensOnly: row.is_tokens_only,
    state: replayState(row),
    installs: row.installs,
    failure: shownFailure(row),
    progress: row.state === 'done' ? 1 : Math.min(Math.max(part, 0), 1),
  }
}
