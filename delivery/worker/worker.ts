/** The worker of one provider: reads its jobs from the log and tiers, and runs those that are due. */

import { endedWithin } from '../../common/deadline.ts'
import type { CatalogSecrets } from '../../domain/catalog.ts'
import { createCatalogWaits } from '../catalog-waits.ts'
import { takeDue } from '../tiers.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ProviderId } from '../../domain/providers/index.ts'
import type { CatalogInHand } from '../../domain/published/catalog-number.ts'
import { TIER_NAMES, type Job, type TierName, type Topic } from '../../domain/records.ts'
import type { Batch, BatchOutcome, Consumer, EventLog } from '../../ports/event-log/event-log.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Telemetry } from '../../runtime/metrics.ts'
import { openProvider, type ProviderAccess, type ProviderLine } from '../exchange/exchange.ts'
import { Attempts } from './attempt.ts'
import { createAttemptResults } from './attempt-results.ts'
import { JobRunner } from './job-runner.ts'
import { createJobClaims } from './job-claims.ts'
import { createJobJournal } from './job-journal.ts'
import { DestinationGate, type DestinationHealth } from './destination-gate.ts'
import { recordOutcome } from './destination-health.ts'
import { nextActionFor, type NextAction } from './next-action.ts'
import { Places } from './places.ts'
import { RequestRoom } from './request-batch.ts'
import { createWorkerMetrics, NO_METRICS, type WorkerMetrics } from './worker-metrics.ts'
import { recallPauses } from '../recovery/recalled-pauses.ts'
import { createRecordReader, type ReadEntry } from '../record-reader.ts'
import { recallSettled, type SettledJobs } from '../recovery/settled-jobs.ts'
import { consumeReadable } from '../version-guard.ts'

interface WorkerDeps {
  readonly eventLog: EventLog
  readonly hotState: JobVerbs
  /** With the credentials of the provider's destinations. */
  readonly catalog: CatalogInHand & CatalogSecrets
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly telemetry: Telemetry
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

/**
 * Consumes the provider's topic and its tiers independently: a tier that waits does not block the others. `stopMs`: how long a stop waits for
 * attempts in flight; the default covers the longest exchange.
 */
export async function startWorker(access: ProviderAccess, deps: WorkerDeps, stopMs = STOP_MS): Promise<Worker> {
  const { provider } = access
  const { eventLog, telemetry, nowMs } = deps
  const group = `deliver.${provider.id}`
  const line = openProvider(access, nowMs)
  const read = createRecordReader(telemetry, group)
  const settledJobs = await recallSettled(eventLog, { provider: provider.id, read })
  const gate = new DestinationGate()
  const pauses = await recallPauses({ eventLog, catalog: deps.catalog, provider: provider.id, read })
  for (const [key, sinceMs] of pauses) gate.recallPause(key, { sinceMs, nowMs: nowMs() })
  const { runner, places } = runnerOf({ line, settledJobs, gate }, deps)
  const queues: readonly { topic: Topic; tier: TierName | null }[] = [
    { topic: `deliver.${provider.id}`, tier: null },
    ...TIER_NAMES.map((tier) => ({ topic: `deliver.${provider.id}.${tier}` as const, tier })),
  ]
  const maxEntries = provider.batch === undefined ? BATCH_JOBS : BATCH_JOBS_PER_REQUEST
  const consume = consumeReadable(deps)
  const consumers: Consumer[] = []
  const close = async (): Promise<void> => {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(() => late.resolve(), stopMs)
    await Promise.all(consumers.map((consumer) => consumer.close()))
    await Promise.race([runner.settled(), late.promise])
    clearTimeout(timer)
    line.close()
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
  return { health: () => ({ inFlight: places.inFlight, troubled: gate.health() }), close }
}

/** What a worker knows of its provider and of what was sent to it. */
interface Known {
  readonly line: ProviderLine
  readonly settledJobs: SettledJobs
  readonly gate: DestinationGate
}

function runnerOf(
  { line, settledJobs, gate }: Known,
  deps: WorkerDeps,
): { readonly runner: JobRunner; readonly places: Places } {
  const { eventLog, hotState, catalog, nowMs, random, telemetry } = deps
  const { provider, baseUrl } = line
  const { logger } = telemetry
  const places = new Places(gate)
  const room = new RequestRoom(provider)
  const metrics = metricsOf(telemetry, provider.id, { places, gate })
  const journal = createJobJournal({ eventLog, nowMs, random, metrics, settledJobs })
  const learn: Parameters<typeof createAttemptResults>[0]['learn'] = (job, result) =>
    recordOutcome({ gate, journal, logger, nowMs }, job, result)
  const results = createAttemptResults({ baseUrl, journal, learn, metrics, random, logger })
  const claims = createJobClaims(hotState, logger)
  const attempts = new Attempts({ line, room, claims, journal, results, nowMs })
  const waits = createCatalogWaits(deps, `deliver.${provider.id}`)
  const deciding = { provider, catalog, waits, gate, settledJobs }
  const next = (job: Job, inFlight: ReadonlyMap<string, unknown>, atMs: number): NextAction =>
    nextActionFor({ ...deciding, inFlight }, job, atMs)
  return { runner: new JobRunner({ next, attempts, journal, places, room, nowMs }), places }
}

function metricsOf(
  { registry }: Telemetry,
  provider: ProviderId,
  { places, gate }: { readonly places: Places; readonly gate: DestinationGate },
): WorkerMetrics {
  if (registry === undefined) return NO_METRICS
  return createWorkerMetrics(registry, provider, {
    inFlight: () => places.inFlight,
    troubled: () => gate.health().length,
    paused: () => gate.health().filter(({ pausedFor }) => pausedFor !== '').length,
  })
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
