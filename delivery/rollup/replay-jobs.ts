/**
 * Role `rollup`: decides installs again for the requests on the log. If the process is killed, another goes on from the last
 * checkpoint. A result is written whole, so that two processes at work on the same replay write the same.
 */

import { parsedAs } from '../../domain/guards.ts'
import { Outage } from '../../common/outage.ts'
import {
  REPLAY_CANCELLED,
  replaySubject,
  type ReplayCheckpoint,
  type ReplayFailure,
  type ReplayResult,
  type UnfinishedReplay,
  isUnfinishedReplay,
  policyOf,
} from '../../domain/collection/replay-decision.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts, FactsReader, FactsScanner, FactsWriter } from '../../ports/facts/facts.ts'
import type { StatementShare } from '../../ports/facts/query-rows.ts'
import type { AskedReplayRow } from '../../ports/facts/pages/replay.ts'
import type { Logger } from '../../runtime/logger.ts'
import { countErasures } from '../facts-writer/erasures.ts'
import { repeat } from '../repeat.ts'
import { stoppableFacts, type Stopping } from '../stopping.ts'
import { replayDecisions, TooManyInstallations } from './replay-decisions.ts'

interface ReplayJobDeps {
  readonly facts: FactsReader & FactsScanner & FactsWriter
  readonly logger: Logger
  readonly nowMs: () => number
}

const EVERY_MS = 5_000
const JOBS_AT_ONCE = 10
/** A replay that so many processes have gone on with, and none has reached a checkpoint, may be what ends them. */
const MOST_STARTS = 5
/** A checkpoint holds all changes so far, up to some megabytes. */
const CHECKPOINT_EVERY_MS = 5_000

/** If the statements of a replay fail so often, while the facts answer others, the replay itself is the cause. */
const MOST_FAILURES = 20

interface ReplayRoleDeps extends ReplayJobDeps {
  /** Finishes the open replays in another thread, like `runReplays`; absent: in this one. */
  readonly runReplaysElsewhere?: (signal: AbortSignal) => Promise<void>
}

/** Starts at once. `close` abandons the running replay; the next start goes on with it. */
export function startReplayJobs(deps: ReplayRoleDeps): { readonly close: () => Promise<void> } {
  const { facts, logger, nowMs, runReplaysElsewhere } = deps
  const begun: BegunReplays = new Map()
  const runHere = (stopping: Stopping): Promise<void> => {
    const each: Facts['each'] = (...asked) => stopping.unlessGivenUp(() => facts.each(...asked))
    return runReplays(
      { facts: { ...stoppableFacts(facts, stopping), each }, logger, nowMs },
      { begun, signal: stopping.signal },
    )
  }
  return repeat({
    act: async (stopping) => {
      if (runReplaysElsewhere === undefined) return runHere(stopping)
      // The other thread is started only if there is something to do.
      const open = await stopping.unlessGivenUp(() => facts.run('openReplays', { limit: 1 }))
      if (open.length > 0) await runReplaysElsewhere(stopping.signal)
    },
    everyMs: EVERY_MS,
    onFailure: (reason) => logger.warn({ reason, task: 'replays' }, 'decisions could not be replayed; retrying'),
  })
}

/** How often statements of each replay that this process has begun have failed since its last checkpoint, by ID. */
export type BegunReplays = Map<string, number>

interface ReplayRun {
  readonly signal?: AbortSignal
  readonly begun?: BegunReplays
}

/** Finishes every open replay that can be finished now. If statements of one fail, it goes on with the others, and then rejects like `Facts`. */
export async function runReplays(deps: ReplayJobDeps, { signal, begun = new Map() }: ReplayRun = {}): Promise<void> {
  const errors: unknown[] = []
  for (const job of await deps.facts.run('openReplays', { limit: JOBS_AT_ONCE })) {
    signal?.throwIfAborted()
    await goOn(job, deps, { signal, begun }).catch((error: unknown) => void errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

/** Its organisation is charged for the engine's time; nobody's page waits for it. */
function chargedFacts({ organization }: AskedReplayRow, facts: ReplayJobDeps['facts']): ReplayJobDeps['facts'] {
  const share: StatementShare = { rank: 'replay', organization, person: '' }
  return {
    run: (query, params, options) => facts.run(query, params, { ...options, share }),
    each: (query, params, options) => facts.each(query, params, { ...options, share }),
    insert: (table, rows) => facts.insert(table, rows),
  }
}

async function goOn(
  job: AskedReplayRow,
  given: ReplayJobDeps,
  { signal, begun }: { readonly signal: AbortSignal | undefined; readonly begun: BegunReplays },
): Promise<void> {
  const deps = { ...given, facts: chargedFacts(job, given.facts) }
  const erasures = await countErasures(deps.facts)
  const { organization, website, id } = job
  const [stored] = await deps.facts.run('begunReplay', { organization, website, id })
  const version = stored?.version ?? 0
  // Another process has finished it since it was listed.
  if (version >= FINISHED) return
  const { starts: before = 0, checkpoint } = parsedAs(isUnfinishedReplay, stored?.result ?? '') ?? {}
  // If the facts were away, this process goes on by itself: only ended processes count.
  const starts = begun.has(job.id) ? before : before + 1
  const failures = begun.get(job.id) ?? 0
  begun.set(job.id, failures)
  const onCheckpoint = (): void => void begun.set(job.id, 0)
  try {
    const write = createResultWriter(job, deps, { version, erasures })
    await runReplay(job, deps, { starts, checkpoint, signal, failures, onCheckpoint, write })
  } catch (error) {
    begun.set(job.id, (begun.get(job.id) ?? 0) + 1)
    throw error
  }
}

type ResultWriter = ReturnType<typeof createResultWriter>

interface ReplayStart {
  readonly starts: number
  readonly checkpoint: ReplayCheckpoint | undefined
  readonly signal: AbortSignal | undefined
  /** Of its statements, since its last checkpoint. */
  readonly failures: number
  /** Called when a checkpoint is stored that was not reached before. */
  readonly onCheckpoint: () => void
  readonly write: ResultWriter
}

async function runReplay(job: AskedReplayRow, deps: ReplayJobDeps, start: ReplayStart): Promise<void> {
  const { facts, logger } = deps
  const { starts, signal, write } = start
  const fail = (failure: ReplayFailure) => write.unfinished('failed', { starts, failure })
  if (await isCancelled(job, facts)) return fail('cancelled')
  if (starts > MOST_STARTS || start.failures > MOST_FAILURES) {
    logger.error(
      { replay: job.id, starts, failures: start.failures },
      'a replay of decisions is given up: the processes that went on with it ended, or its statements failed, before it got any further',
    )
    return fail('given_up')
  }
  try {
    const result = await decideAgain(job, deps, start)
    if (await isCancelled(job, facts)) throw new ReplayCancelled('somebody cancelled it')
    await write.done(result)
  } catch (error) {
    if (error instanceof Outage || (signal?.aborted ?? false)) throw error
    // It begins anew at the next look, from nothing that names what was erased.
    if (error instanceof ErasedMeanwhile) return write.unfinished('running', { starts })
    const failure = reasonOfEnd(error)
    if (failure !== 'cancelled') logger.error({ err: error, replay: job.id }, 'a replay of decisions failed')
    await fail(failure)
  }
}

/** Stores how far it is. Rejects like `replayDecisions`, with `ReplayCancelled` and with `ErasedMeanwhile`. */
async function decideAgain(
  job: AskedReplayRow,
  { facts, nowMs }: ReplayJobDeps,
  { starts, checkpoint, signal, onCheckpoint, write }: ReplayStart,
): Promise<ReplayResult> {
  await write.unfinished('running', { starts, checkpoint })
  let writtenAtMs = nowMs()
  return replayDecisions(facts, replayRequest(job), {
    ...(signal === undefined ? {} : { signal }),
    ...(checkpoint === undefined ? {} : { from: checkpoint }),
    async onProgress(progress) {
      if (await isCancelled(job, facts)) throw new ReplayCancelled('somebody cancelled it')
      if (!progress.isFurther || nowMs() - writtenAtMs < CHECKPOINT_EVERY_MS) return
      // What was reached now ended no process.
      await write.unfinished('running', { starts: 1, checkpoint: progress.checkpoint() })
      onCheckpoint()
      writtenAtMs = nowMs()
    },
  })
}

/** What was counted so far may name what was erased meanwhile. */
class ErasedMeanwhile extends Error {
  override readonly name = 'ErasedMeanwhile'
}

interface StoredResult {
  /** Of the row that is stored of it; 0 if there is none. */
  readonly version: number
  /** How many erasures there were before the checkpoint was read. */
  readonly erasures: number
}

/** How far a replay is, or what it came to. */
interface ResultStep {
  readonly state: ResultRow['state']
  readonly installs: number
  readonly reached: number
  readonly result: string
}

/**
 * Writes the row of a replay; each takes the place of the one before. If what it should write may name something erased, it
 * rejects with `ErasedMeanwhile` instead. An erasure says so first and deletes rows a moment later, so what is being written at this moment is deleted, too.
 */
function createResultWriter(
  job: AskedReplayRow,
  { facts, nowMs }: ReplayJobDeps,
  { erasures, version: stored }: StoredResult,
) {
  let version = stored
  const checkErasures = async (): Promise<void> => {
    if ((await countErasures(facts)) !== erasures) throw new ErasedMeanwhile('something was erased meanwhile')
  }
  const write = async (part: ResultStep): Promise<void> => {
    const madeAtMs = nowMs()
    // The steps of a later start outrank those of an earlier one, even if the clock of its process was ahead.
    version = Math.max(madeAtMs * STEP_SPAN, version + 1)
    const row: ResultRow = {
      ...part,
      organization: job.organization,
      website: job.website,
      id: job.id,
      made_at: madeAtMs,
      retention_days: KEEP_DAYS,
      row_version: part.state === 'running' ? version : version + FINISHED,
    }
    await facts.insert('decision_replay_results', [row])
  }
  return {
    async unfinished(state: 'running' | 'failed', unfinished: UnfinishedReplay): Promise<void> {
      const { checkpoint } = unfinished
      if (checkpoint !== undefined) await checkErasures()
      const at = { installs: checkpoint?.result.installs ?? 0, reached: checkpoint?.afterMs ?? job.since_ms }
      await write({ state, ...at, result: JSON.stringify(unfinished) })
    },
    async done(result: ReplayResult): Promise<void> {
      await checkErasures()
      await write({ state: 'done', installs: result.installs, reached: job.until_ms, result: JSON.stringify(result) })
    },
  }
}

class ReplayCancelled extends Error {
  override readonly name = 'ReplayCancelled'
}

function reasonOfEnd(error: unknown): ReplayFailure {
  if (error instanceof ReplayCancelled) return 'cancelled'
  return error instanceof TooManyInstallations ? 'too_many_installations' : 'failed'
}

async function isCancelled(
  { id, organization, asked_at_ms: askedAtMs }: AskedReplayRow,
  facts: FactsReader,
): Promise<boolean> {
  const entry = { organization, subject: replaySubject(id), type: REPLAY_CANCELLED }
  // The clocks of two pods may differ.
  return (await facts.run('cancelledReplay', { ...entry, since_ms: askedAtMs - LIMITS.clockSkewMs })).length > 0
}

type ResultRow = RowOf<'decision_replay_results'>

const KEEP_DAYS = LIMITS.replayKeepMs / DAY_MS
/** Versions of one millisecond; a replay has fewer steps in it. */
const STEP_SPAN = 1_000

/**
 * Added to the version of a finished replay, which outranks any progress that another process reports. 2^52: above every version of a
 * running replay, and their sum stays below 2^53.
 */
const FINISHED = 4_503_599_627_370_496

function replayRequest(job: AskedReplayRow): Parameters<typeof replayDecisions>[1] {
  return {
    website: job.website,
    organization: job.organization,
    policy: { policy: policyOf(job.policy), windowMs: job.window_ms, isTokensOnly: job.is_tokens_only },
    sinceMs: job.since_ms,
    untilMs: job.until_ms,
  }
}
