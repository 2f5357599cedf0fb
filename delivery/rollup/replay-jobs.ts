/**
 * Role `rollup`: decides installs again for whoever asked on the log. A kill costs what was done of the one at work,
 * which begins anew; a result is written whole, so that two processes at once write the same.
 */

import { setTimeout as pause } from 'node:timers/promises'

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { VisitPolicy } from '../../domain/model.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import type { AskedReplayRow } from '../../ports/facts/pages/replay.ts'
import type { Logger } from '../../runtime/logger.ts'
import { replayDecisions } from './replay-decisions.ts'

interface ReplayJobDeps {
  readonly facts: Pick<Facts, 'run' | 'insert'>
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly nowMs: () => number
}

const EVERY_MS = 5_000
const JOBS_AT_ONCE = 10

/** Starts working at once. `stop` gives up the replay at work; it begins anew with the next start. */
export function startReplayJobs(deps: ReplayJobDeps): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await runReplays(deps, signal).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : 'unknown'
        if (!signal.aborted) deps.logger.warn({ reason }, 'decisions could not be replayed, trying again')
      })
      await pause(EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  const ended = loop()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** Finishes every replay that is asked and open. Rejects like `Facts`. */
export async function runReplays(deps: ReplayJobDeps, signal?: AbortSignal): Promise<void> {
  for (const job of await deps.facts.run('openReplays', { limit: JOBS_AT_ONCE })) {
    signal?.throwIfAborted()
    await runReplay(job, deps, signal)
  }
}

async function runReplay(job: AskedReplayRow, deps: ReplayJobDeps, signal: AbortSignal | undefined): Promise<void> {
  const { facts, logger } = deps
  let step = 0
  const write = async (part: Pick<ResultRow, 'state' | 'installs' | 'reached' | 'result'>): Promise<void> => {
    // A later start outranks the steps of an earlier one.
    const madeAtMs = deps.nowMs()
    const row: ResultRow = {
      ...{ ...part, website: job.website, id: job.id, made_at: madeAtMs, retention_days: KEEP_DAYS },
      row_version: rankOf(part.state, madeAtMs, step++),
    }
    await facts.insert('decision_replay_results', [row])
  }
  await write({ state: 'running', installs: 0, reached: job.since_ms, result: '' })
  try {
    const result = await replayDecisions(facts, replayRequest(job), {
      ...(signal === undefined ? {} : { signal }),
      onProgress: ({ installs, reachedMs }) => write({ state: 'running', installs, reached: reachedMs, result: '' }),
    })
    await write({
      ...{ state: 'done', installs: result.installs, reached: job.until_ms },
      result: JSON.stringify(result),
    })
  } catch (error) {
    if (error instanceof FactsUnavailable || (signal?.aborted ?? false)) throw error
    logger.error({ err: error, replay: job.id }, 'a replay of decisions failed')
    await write({ state: 'failed', installs: 0, reached: job.since_ms, result: '' })
  }
}

type ResultRow = RowOf<'decision_replay_results'>

const KEEP_DAYS = LIMITS.replayKeepMs / DAY_MS
/** More steps than a replay has pages. */
const STEP_SPAN = 1_000

/** What is finished outranks what another process still works on. */
function rankOf(state: string, madeAtMs: number, step: number): number {
  const rank = madeAtMs * STEP_SPAN + Math.min(step, STEP_SPAN - 1)
  return state === 'running' ? rank : rank + FINISHED
}

/** 2^52: above every moment of ours with its steps, and below 2^53 with it. */
const FINISHED = 4_503_599_627_370_496

function replayRequest(job: AskedReplayRow): Parameters<typeof replayDecisions>[1] {
  return {
    website: job.website,
    policy: { policy: job.policy as VisitPolicy, windowMs: job.window_ms, isTokensOnly: job.is_tokens_only },
    sinceMs: job.since_ms,
    untilMs: job.until_ms,
  }
}
