/**
 * Refills a hot state that has lost data, automatically, and marks it complete again: at once with the answers that are new on the
 * log (`refill-from-log.ts`), then from the facts.
 *
 * Everything is restored if the store was emptied, restarted or replaced; or only the answers since a time, if processes kept
 * some to themselves while the store was away, and then died or had too many.
 *
 * Until then, whoever meets an event or an installation that the hot state does not know asks the facts and the log. The hot state
 * has everything recorded after the loss; what was recorded before is in the facts once they have caught up with the log.
 */

import { setTimeout as wait } from 'node:timers/promises'

import { every, type Repetition } from '../../common/every.ts'
import { unlessAborted } from '../../common/deadline.ts'
import { FACTS_WRITER_GROUP, hasReached } from '../../domain/collection/facts-lag.ts'
import type { RecordTopic } from '../../domain/records.ts'
import type { LogTail, LogProgress } from '../../ports/event-log/event-log.ts'
import type {
  Loss,
  ReceiptVerbs,
  InstallVerbs,
  UsageVerbs,
  JobVerbs,
  LossVerbs,
} from '../../ports/hot-state/hot-state.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { createRecordReader } from '../record-reader.ts'
import { rebuildAnswersSince, rebuildState } from './rebuild-state.ts'
import { refillFromLog } from './refill-from-log.ts'

export interface RefillDeps {
  readonly eventLog: LogTail & LogProgress
  /** Must reject if the store is unreachable. */
  readonly hotState: ReceiptVerbs & InstallVerbs & UsageVerbs & JobVerbs & LossVerbs
  readonly facts: FactsReader
  readonly telemetry: Telemetry
  readonly nowMs: () => number
  /** Identifies this process among those that could refill. */
  readonly owner: string
}

const TOPICS: readonly RecordTopic[] = ['activations', 'installs', 'install_decisions']
const JOB = 'refill'
const LEASE_MS = 30_000
const AGAIN_MS = 1_000
/** Between two looks whether a process has died with answers that it could not write. */
const LOOK_MS = 15_000

export interface Refill {
  /** The store may have lost something. Does nothing if it is complete. */
  readonly request: Repetition['now']
  readonly close: Repetition['close']
}

type Refilling = RefillDeps & { readonly giveNewest: (loss: Loss, onProgress: () => void) => Promise<void> }

export function createRefill(given: RefillDeps): Refill {
  const deps: Refilling = { ...given, giveNewest: newestAnswers(given) }
  const refill = async (signal: AbortSignal): Promise<number> => ((await tryRefill(deps, signal)) ? LOOK_MS : AGAIN_MS)
  const { now, close } = every(LOOK_MS, refill, {
    firstMs: LOOK_MS,
    retryMs: AGAIN_MS,
    onFailure: (error) =>
      deps.telemetry.logger.warn({ err: error, task: 'refill' }, 'the hot state cannot be filled yet'),
  })
  return { request: now, close }
}

/** True if the store is complete now; false if this must be retried. */
async function tryRefill(given: Refilling, signal: AbortSignal): Promise<boolean> {
  const deps = untilAborted(given, signal)
  const { hotState, facts, nowMs, owner } = deps
  const loss = await hotState.forgotten()
  if (loss === null) return true
  if (!(await hotState.claimJob(JOB, owner, LEASE_MS))) return false
  const onProgress = (): void => {
    signal.throwIfAborted()
    void hotState.claimJob(JOB, owner, LEASE_MS).catch(() => undefined)
  }
  try {
    await unlessAborted(signal, () => deps.giveNewest(loss, onProgress))
    await untilFactsHave(deps, signal)
    const rebuilding = { facts, hotState, nowMs, onProgress }
    const { sinceMs } = loss
    const report = await (sinceMs === null ? rebuildState(rebuilding) : rebuildAnswersSince(sinceMs, rebuilding))
    await hotState.restored(loss)
    deps.telemetry.logger.info({ ...report }, 'the hot state was filled from the facts')
    // If it lost data again in the meantime, it is not complete.
    return (await hotState.forgotten()) === null
  } finally {
    await hotState.releaseJob(JOB, owner)
  }
}

/** Once for each loss, however often the rest must be tried again. */
function newestAnswers({ eventLog, hotState, telemetry }: RefillDeps): Refilling['giveNewest'] {
  const read = createRecordReader(telemetry, 'refill')
  let given = ''
  return async ({ generation, losses }, onProgress) => {
    const name = `${generation} ${losses}`
    if (name === given) return
    const answers = await refillFromLog({ eventLog, hotState, read, onProgress })
    given = name
    telemetry.logger.info({ answers }, 'the hot state got its newest answers from the log')
  }
}

/** Its queries may hang, and must not keep the process from stopping. */
function untilAborted(deps: Refilling, signal: AbortSignal): Refilling {
  const { eventLog, facts } = deps
  return {
    ...deps,
    eventLog: {
      progress: (topic, group) => unlessAborted(signal, () => eventLog.progress(topic, group)),
      readLast: (topic, newest) => eventLog.readLast(topic, newest),
    },
    facts: { run: (query, params) => unlessAborted(signal, () => facts.run(query, params)) },
  }
}

/** Everything that is on the log now. */
async function untilFactsHave({ eventLog, hotState, owner }: RefillDeps, signal: AbortSignal): Promise<void> {
  for (const topic of TOPICS) {
    const { ends } = await eventLog.progress(topic, FACTS_WRITER_GROUP)
    for (;;) {
      const { done } = await eventLog.progress(topic, FACTS_WRITER_GROUP)
      if (hasReached(done, ends)) break
      await wait(AGAIN_MS, undefined, { signal })
      await hotState.claimJob(JOB, owner, LEASE_MS)
    }
  }
}
