/** The worker of one provider: reads its jobs from the log and tiers, and runs those that are due. */

import type { Registry } from 'prom-client'

import { endedWithin } from '../../common/deadline.ts'
import type { Catalog, Credentials } from '../../domain/catalog.ts'
import { createCatalogWaits } from '../catalog-waits.ts'
import { takeDue } from '../tiers.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { OutboundProxy } from '../../domain/outbound/proxy.ts'
import { TIER_NAMES, type TierName, type Topic } from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, EventLog } from '../../ports/event-log/event-log.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import { createTokens, type Tokens } from '../exchange/auth.ts'
import { JobRunner } from './job-runner.ts'
import { DestinationGate, type DestinationHealth } from './destination-gate.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Provider } from '../providers/provider.ts'
import { recallPauses } from '../recovery/recalled-pauses.ts'
import { createRecordReader, type ReadEntry } from '../record-reader.ts'
import { createSender } from '../exchange/send.ts'
import { recallSettled } from '../recovery/settled-jobs.ts'
import { consumeReadable } from '../version-guard.ts'

interface WorkerDeps {
  readonly provider: Provider
  /** Origin of the provider's API: its own, or a stand-in from the settings. */
  readonly baseUrl: string
  /** Origin of the service that issues access tokens, for a provider that needs them. */
  readonly tokenUrl?: string
  /** Through which these are called; absent or null: directly. */
  readonly proxy?: OutboundProxy | null
  readonly eventLog: EventLog
  readonly hotState: HotState
  readonly catalog: () => Catalog
  readonly catalogAsOf?: () => number
  readonly credentials: () => Credentials
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Logger
  readonly registry?: Registry
  /** Time limit of one exchange, in ms; the default is 10 s. */
  readonly exchangeMs?: number
  /** How long a stop waits for attempts in flight, in ms; the default covers the longest exchange. */
  readonly stopMs?: number
}

interface WorkerHealth {
  readonly inFlight: number
  /** Destinations whose breaker is open or that are paused. */
  readonly troubled: readonly DestinationHealth[]
}

export interface Worker {
  health(): WorkerHealth
  /**
   * Takes no more jobs. Resolves once every attempt in flight has ended and is recorded, or is given up: the job of such an attempt
   * is still on the log, and is retried with the same ID.
   */
  close(): Promise<void>
}

/** Jobs in one batch from the log; small, so that a batch delivered again after a crash repeats little. */
const BATCH_JOBS = 128
/** How long a stop waits for attempts in flight, from its beginning. */
const STOP_MS = LIMITS.webhookMs + 2_000
/** More if one request can carry many jobs. */
const BATCH_JOBS_PER_REQUEST = 512

/** Consumes the provider's topic and its tiers independently: a tier that waits does not block the others. */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const group = `deliver.${deps.provider.id}`
  const sender = createSender({ baseUrl: deps.baseUrl, proxy: deps.proxy, exchangeMs: deps.exchangeMs })
  const tokens = tokensOf(deps)
  const { nowMs } = deps
  const read = createRecordReader(deps, group)
  const settledJobs = await recallSettled(deps.eventLog, { provider: deps.provider.id, read })
  const gate = new DestinationGate()
  const pauses = await recallPauses({ ...deps, provider: deps.provider.id, read })
  for (const [key, sinceMs] of pauses) gate.recallPause(key, { sinceMs, nowMs: nowMs() })
  const waits = createCatalogWaits(deps, group)
  const runner = new JobRunner({ ...deps, waits, sender, tokens, settledJobs, gate })
  const queues: readonly { topic: Topic; tier: TierName | null }[] = [
    { topic: `deliver.${deps.provider.id}`, tier: null },
    ...TIER_NAMES.map((tier) => ({ topic: `deliver.${deps.provider.id}.${tier}` as const, tier })),
  ]
  const maxEntries = deps.provider.batch === undefined ? BATCH_JOBS : BATCH_JOBS_PER_REQUEST
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => late.resolve(), deps.stopMs ?? STOP_MS)
    await Promise.all(consumers.map((consumer) => consumer.close()))
    await Promise.race([runner.settled(), late.promise])
    clearTimeout(timer)
    sender.close()
    tokens?.close()
  }
  try {
    for (const { topic, tier } of queues) {
      const handler = (batch: Batch): Promise<BatchOutcome> => takeJobs({ nowMs, read, runner }, batch, tier)
      consumers.push(await consume(topic, group, handler, { maxEntries }))
    }
  } catch (error) {
    await close()
    throw error
  }
  return { health: () => ({ inFlight: runner.inFlight, troubled: runner.troubled() }), close }
}

/** A token and its request share the time limit of one exchange: a claim covers both, and a second try of both. */
function tokensOf(deps: WorkerDeps): Tokens | null {
  if (deps.provider.auth === undefined) return null
  if (deps.tokenUrl === undefined) throw new Error(`${deps.provider.id} needs a token service`)
  const exchangeMs = Math.round((deps.exchangeMs ?? LIMITS.webhookMs) / 2)
  return createTokens({ baseUrl: deps.tokenUrl, proxy: deps.proxy, nowMs: deps.nowMs, exchangeMs })
}

interface BatchParts {
  readonly nowMs: () => number
  readonly read: ReadEntry
  readonly runner: JobRunner
}

/** The next batch is handed over after this time, whoever waits for an answer. */
const HAND_OVER_MS = 100

/**
 * Runs the entries at the front that are due; a job is finished with once its result or its next entry is durable. Jobs that wait for a slow
 * destination hold back the position, and no other job.
 */
async function takeJobs(
  { nowMs, read, runner }: BatchParts,
  batch: Batch,
  tier: TierName | null,
): Promise<BatchOutcome> {
  const { due, outcome } = takeDue(batch, { tier, nowMs, read: (entry) => read('job', entry, batch.topic) })
  // Nearest deadline first: if not all can be sent in time, as many as possible are.
  const until = runner.take(due.toSorted((a, b) => a.deadlineAtMs - b.deadlineAtMs))
  // Rejects with this batch, or tells the log later.
  until.catch(() => undefined)
  await Promise.race([until, endedWithin(until, HAND_OVER_MS)])
  return { ...outcome, until }
}
