/**
 * Role `rollup`: decides installs again for the requests on the log. If the process is killed, the running replay begins
 * anew. A result is written whole, so that two processes at work on the same replay write the same.
 */

import { readJsonColumn } from '../../common/json-column.ts'
import { REPLAY_CANCELLED, replaySubject, type UnfinishedReplay } from '../../domain/collection/replay-decision.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { VisitPolicy } from '../../domain/model.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { FactsUnavailable } from '../../ports/facts/facts.ts'
import type { AskedReplayRow } from '../../ports/facts/pages/replay.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat } from '../repeat.ts'
import { stoppableFacts } from '../stopping.ts'
import { replayDecisions, TooManyInstallations } from './replay-decisions.ts'

interface ReplayJobDeps {
  readonly facts: Pick<Facts, 'run' | 'insert'>
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly nowMs: () => number
}

const EVERY_MS = 5_000
const JOBS_AT_ONCE = 10
/** A replay that so many processes have begun, and none has finished, may be what ends them. */
const MOST_STARTS = 5

/** Starts at once. `stop` abandons the running replay, which begins anew at the next start. */
export function startReplayJobs(deps: ReplayJobDeps): { readonly stop: () => Promise<void> } {
  const begun = new Set<string>()
  return repeat({
    act: (stopping) =>
      runReplays({ ...deps, facts: stoppableFacts(deps.facts, stopping) }, { begun, signal: stopping.signal }),
    everyMs: EVERY_MS,
    onFailure: (reason) => deps.logger.warn({ reason }, 'decisions could not be replayed; retrying'),
  })
}

interface ReplayRun {
  readonly signal?: AbortSignal
  /** IDs of the replays that this process has begun. */
  readonly begun?: Set<string>
}

/** Finishes every open replay. Rejects like `Facts`. */
export async function runReplays(deps: ReplayJobDeps, { signal, begun = new Set() }: ReplayRun = {}): Promise<void> {
  for (const job of await deps.facts.run('openReplays', { limit: JOBS_AT_ONCE })) {
    signal?.throwIfAborted()
    const [stored] = await deps.facts.run('begunReplay', { website: job.website, id: job.id })
    const before = readJsonColumn<UnfinishedReplay>(stored?.result ?? '')?.starts ?? 0
    // If the facts were away, this process begins again: only ended processes count.
    const starts = begun.has(job.id) ? before : before + 1
    begun.add(job.id)
    await runReplay(job, deps, { starts, signal })
  }
}

interface ReplayStart {
  readonly starts: number
  readonly signal: AbortSignal | undefined
}

async function runReplay(job: AskedReplayRow, deps: ReplayJobDeps, { starts, signal }: ReplayStart): Promise<void> {
  const { facts, logger } = deps
  let step = 0
  const write = async (part: Pick<ResultRow, 'state' | 'installs' | 'reached' | 'result'>): Promise<void> => {
    // The steps of a later start outrank those of an earlier one.
    const madeAtMs = deps.nowMs()
    const row: ResultRow = {
      ...{ ...part, website: job.website, id: job.id, made_at: madeAtMs, retention_days: KEEP_DAYS },
      row_version: rankOf(part.state, madeAtMs, step++),
    }
    await facts.insert('decision_replay_results', [row])
  }
  const writeTrouble = (
    state: 'running' | 'failed',
    trouble: Omit<UnfinishedReplay, 'starts'>,
    at = { installs: 0, reached: job.since_ms },
  ) => write({ state, ...at, result: JSON.stringify({ starts, ...trouble } satisfies UnfinishedReplay) })
  if (await isCancelled(job, facts)) return writeTrouble('failed', { failure: 'cancelled' })
  if (starts > MOST_STARTS) {
    logger.error(
      { replay: job.id, starts },
      'a replay of decisions is given up: every process that began it has ended before it was done',
    )
    return writeTrouble('failed', { failure: 'given_up' })
  }
  await writeTrouble('running', {})
  try {
    const result = await replayDecisions(facts, replayRequest(job), {
      ...(signal === undefined ? {} : { signal }),
      async onProgress({ installs, reachedMs: reached }) {
        if (await isCancelled(job, facts)) throw new ReplayCancelled('somebody cancelled it')
        await writeTrouble('running', {}, { installs, reached })
      },
    })
    await write({ state: 'done', installs: result.installs, reached: job.until_ms, result: JSON.stringify(result) })
  } catch (error) {
    if (error instanceof FactsUnavailable || (signal?.aborted ?? false)) throw error
    const failure = reasonOfEnd(error)
    if (failure !== 'cancelled') logger.error({ err: error, replay: job.id }, 'a replay of decisions failed')
    await writeTrouble('failed', { failure })
  }
}

class ReplayCancelled extends Error {
  override readonly name = 'ReplayCancelled'
}

function reasonOfEnd(error: unknown): NonNullable<UnfinishedReplay['failure']> {
  if (error instanceof ReplayCancelled) return 'cancelled'
  return error instanceof TooManyInstallations ? 'too_many_installations' : 'failed'
}

async function isCancelled(
  { id, organization, asked_at_ms: askedAtMs }: AskedReplayRow,
  facts: Pick<Facts, 'run'>,
): Promise<boolean> {
  const entry = { organization, subject: replaySubject(id), type: REPLAY_CANCELLED }
  // The clocks of two pods may differ.
  return (await facts.run('cancelledReplay', { ...entry, since_ms: askedAtMs - LIMITS.clockSkewMs })).length > 0
}

type ResultRow = RowOf<'decision_replay_results'>

const KEEP_DAYS = LIMITS.replayKeepMs / DAY_MS
/** Above the number of pages of any replay. */
const STEP_SPAN = 1_000

/** A finished replay outranks any progress that another process reports. */
function rankOf(state: string, madeAtMs: number, step: number): number {
  const rank = madeAtMs * STEP_SPAN + Math.min(step, STEP_SPAN - 1)
  return state === 'running' ? rank : rank + FINISHED
}

/** 2^52: above every version of a running replay, and their sum stays below 2^53. */
const FINISHED = 4_503_599_627_370_496

function replayRequest(job: AskedReplayRow): Parameters<typeof replayDecisions>[1] {
  return {
    website: job.website,
    policy: { policy: job.policy as VisitPolicy, windowMs: job.window_ms, isTokensOnly: job.is_tokens_only },
    sinceMs: job.since_ms,
    untilMs: job.until_ms,
  }
}
