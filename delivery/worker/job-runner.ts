/** Runs jobs: does what `next-action.ts` decides for each, within the concurrency limits and the time that a batch may wait. */

import type { Registry } from 'prom-client'

import { loggedFault } from '../../common/fault.ts'
import type { Catalog, Credentials } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { JobVerbs } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { makeAttempt, type AttemptDeps, type ExchangeResult } from './attempt.ts'
import type { CatalogWaits } from '../catalog-waits.ts'
import type { Tokens } from '../exchange/auth.ts'
import type { DestinationGate, DestinationHealth } from './destination-gate.ts'
import { createJobJournal, type JobJournal } from './job-journal.ts'
import { BatchSizes, requestBatches, type ReadyJob, type RequestBatch } from './request-batch.ts'
import type { DestinationContext, Provider } from '../providers/provider.ts'
import { QueuePace } from '../queue-pace.ts'
import { Quotas } from './quota.ts'
import type { Sender } from '../exchange/send.ts'
import { attemptKey, type SettledJobs } from '../recovery/settled-jobs.ts'
import { AnswerCache } from './answer-cache.ts'
import { Slots, type SlotClaim } from '../slots.ts'
import { BUSY_MS, contextOf, nextActionFor, type NextAction } from './next-action.ts'
import { createWorkerMetrics, NO_METRICS, type WorkerGauges } from './worker-metrics.ts'

interface JobRunnerDeps {
  readonly provider: Provider
  /** Origin of the provider's API. */
  readonly baseUrl: string
  readonly eventLog: LogWriter
  readonly hotState: JobVerbs
  readonly catalog: () => Catalog
  readonly credentials: () => Credentials
  readonly waits: CatalogWaits
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Logger
  readonly registry?: Registry
  readonly sender: Sender
  /** Null for providers that need no access token. */
  readonly tokens: Tokens | null
  readonly settledJobs: SettledJobs
  readonly gate: DestinationGate
}

const SLOTS = { perKey: 8, total: 512, leavesRoom: true }
/** How long jobs wait for free slots; those that got none go to the shortest tier. */
const SLOT_WAIT_MS = 250
/** How long jobs wait for answers; attempts still in flight then go on in the background. */
const ANSWER_WAIT_MS = 500
/** When the backup copy of a job in flight falls due: after its exchange must have ended. */
const BACKUP_COPY_AFTER_MS = 3 * LIMITS.webhookMs

/** A job that waits for a slot or a quota falls due at least this long before its deadline. */
const RETRY_BEFORE_DEADLINE_MS = 60_000

const UNJUDGED = 'accepted by the provider, whose verdict cannot be requested any more'

/** Aborted once jobs have waited long enough. */
interface WaitLimits {
  readonly forSlot: AbortSignal
  readonly forAnswer: AbortSignal
}

interface DeferredJob {
  readonly job: Job
  readonly action: Exclude<NextAction, { kind: 'send' }>
}

/** Holds what one worker process knows about its attempts in flight and its destinations. */
export class JobRunner {
  readonly #deps: JobRunnerDeps
  readonly #journal: JobJournal
  readonly #attemptDeps: AttemptDeps
  readonly #gate: DestinationGate
  readonly #slots = new Slots(SLOTS)
  readonly #sizes = new BatchSizes()
  readonly #pace = new QueuePace(SLOTS.perKey)
  readonly #quotas: Quotas
  readonly #inFlight = new Map<string, Promise<void>>()
  /** Attempts that some call of `take` is at work on, by `attemptKey`. */
  readonly #taken = new Set<string>()

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps
    this.#gate = deps.gate
    const gauges = { inFlight: () => this.#slots.inFlight, ...destinationGauges(this.#gate) }
    const { registry, provider } = deps
    const metrics = registry === undefined ? NO_METRICS : createWorkerMetrics(registry, provider.id, gauges)
    const journal = createJobJournal({ ...deps, metrics })
    const quotas = new Quotas(provider.quotas)
    const own = { journal, metrics, quotas, gate: this.#gate, sizes: this.#sizes }
    this.#journal = journal
    this.#quotas = quotas
    this.#attemptDeps = { ...deps, ...own, answers: new AnswerCache<ExchangeResult>() }
  }

  get inFlight(): number {
    return this.#slots.inFlight
  }

  troubled(): readonly DestinationHealth[] {
    return this.#gate.health()
  }

  /** Resolves when each job has ended, waits in a tier, or is in flight with a backup copy in a tier. */
  async take(jobs: readonly Job[]): Promise<void> {
    const [forSlot, slotTimer] = abortAfter(SLOT_WAIT_MS)
    const [forAnswer, answerTimer] = abortAfter(ANSWER_WAIT_MS)
    const nowMs = this.#deps.nowMs()
    const { ready, deferred, keys } = this.#decide(jobs, nowMs)
    const rules = { provider: this.#deps.provider, maxJobs: (key: string) => this.#sizes.most(key), nowMs }
    const results = await Promise.allSettled([
      ...deferred.map((each) => this.#defer(each)),
      ...requestBatches(ready, rules).map((batch) => this.#send(batch, { forSlot, forAnswer })),
    ])
    clearTimeout(slotTimer)
    clearTimeout(answerTimer)
    for (const key of keys) this.#taken.delete(key)
    const broken = results.find((result) => result.status === 'rejected')
    if (broken !== undefined) throw new Error('a job could not be started', { cause: broken.reason })
  }

  /** Resolves when no attempt is in flight. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#inFlight.values())
  }

  /** `keys`: those that are taken now, and were not before. */
  #decide(jobs: readonly Job[], nowMs: number): { ready: ReadyJob[]; deferred: DeferredJob[]; keys: string[] } {
    const ready: ReadyJob[] = []
    const deferred: DeferredJob[] = []
    const keys: string[] = []
    const parts = { gate: this.#gate, inFlight: this.#inFlight }
    for (const job of jobs) {
      const key = attemptKey(job)
      const isSecond = this.#taken.has(key)
      if (!isSecond) keys.push(key)
      this.#taken.add(key)
      const action: NextAction = isSecond
        ? { kind: 'wait', untilMs: nowMs + BUSY_MS }
        : nextActionFor({ ...this.#deps, ...parts }, job, nowMs)
      if (action.kind === 'send') ready.push({ job, action })
      else deferred.push({ job, action })
    }
    return { ready, deferred, keys }
  }

  async #defer({ job, action }: DeferredJob): Promise<void> {
    switch (action.kind) {
      case 'drop':
        return
      case 'wait':
        return this.#journal.wait({ ...job, dueAtMs: action.untilMs })
      case 'hold':
        return this.#journal.hold(job, action.reason, action.untilMs)
      case 'end':
        await this.#journal.end(job, action)
        this.#deps.settledJobs.add(job)
        return
      case 'settle':
        await this.#settle(job, action.step)
        this.#deps.settledJobs.add(job)
        return
    }
  }

  async #settle(job: Job, step: Extract<NextAction, { kind: 'settle' }>['step']): Promise<void> {
    const { sessionMode } = job
    if (step.kind === 'done') return this.#journal.settle(job, step, { sessionMode, detail: UNJUDGED, attempt: null })
    // Counted as an attempt, so that a replay is not mistaken for this one.
    const counted = { ...job, attempts: job.attempts + 1 }
    await this.#journal.settle(counted, step, { sessionMode, detail: '', attempt: null })
  }

  async #send(batch: RequestBatch, limits: WaitLimits): Promise<void> {
    const { key, isTrusted, organization, jobs, target } = batch
    const nowMs = this.#deps.nowMs()
    const claim = { key, organization, most: this.#gate.mostInFlight(key, SLOTS.perKey, nowMs) }
    const isQueueShort = !this.#pace.isCrowded(key, nowMs) || this.#slots.waiting(key) < SLOTS.perKey
    const mayWait = isTrusted && isQueueShort
    const hasSlot = mayWait ? await this.#slots.take(claim, limits.forSlot) : this.#slots.tryTake(claim)
    if (!hasSlot) return this.#postpone(batch, this.#pace.book(key, BUSY_MS, this.#deps.nowMs()))
    const quotaAtMs = this.#takeQuota(contextOf(target), jobs)
    if (quotaAtMs !== null) {
      this.#slots.give(claim)
      return this.#postpone(batch, quotaAtMs)
    }
    if (!isTrusted) return this.#sendInBackground(batch, claim)
    const attempt = this.#attempt(batch, claim)
    if (await endsInTime(attempt, limits.forAnswer)) return
    this.#gate.slow(key, 1, this.#deps.nowMs())
    void attempt.catch(() => undefined).then(() => this.#gate.slow(key, -1, this.#deps.nowMs()))
    await this.#writeBackup(batch, this.#deps.nowMs() + BACKUP_COPY_AFTER_MS)
  }

  /** Null if the provider's quotas allow the batch, which then counts towards them; otherwise when they will, in Unix ms. */
  #takeQuota(context: DestinationContext, jobs: readonly Job[]): number | null {
    if (jobs[0]?.accepted !== undefined) return null
    return this.#quotas.take(context, { requests: 1, deliveries: jobs.length }, this.#deps.nowMs())
  }

  /** A failing destination must not make other jobs wait: backup copies on the log allow the attempt to go on unattended. */
  async #sendInBackground(batch: RequestBatch, claim: SlotClaim): Promise<void> {
    try {
      await this.#writeBackup(batch, this.#deps.nowMs() + BACKUP_COPY_AFTER_MS)
    } catch (error) {
      this.#slots.give(claim)
      throw error
    }
    void this.#attempt(batch, claim).catch(() => undefined)
  }

  /** Rejects if a result could not be recorded, so that the jobs are delivered again. */
  async #attempt(batch: RequestBatch, claim: SlotClaim): Promise<void> {
    const startedAtMs = this.#deps.nowMs()
    const keys = batch.jobs.map(attemptKey)
    const attempt = makeAttempt(this.#attemptDeps, batch)
    for (const key of keys) this.#inFlight.set(key, attempt)
    try {
      await attempt
    } catch (error) {
      const fields = {
        provider: this.#deps.provider.id,
        destination: batch.key,
        jobs: keys.length,
        ...loggedFault(error),
      }
      this.#deps.logger.error(fields, 'attempt not recorded')
      throw error
    } finally {
      this.#slots.give(claim)
      this.#pace.took(batch.key, this.#deps.nowMs() - startedAtMs, this.#deps.nowMs())
      for (const key of keys) this.#inFlight.delete(key)
    }
  }

  /** Defers jobs until a slot or the quota is expected to be free, but not too close to their deadlines. */
  async #postpone({ jobs }: RequestBatch, freeAtMs: number): Promise<void> {
    const soonMs = this.#deps.nowMs() + BUSY_MS
    const dueAtMs = (job: Job): number =>
      Math.max(soonMs, Math.min(freeAtMs, job.deadlineAtMs - RETRY_BEFORE_DEADLINE_MS))
    await Promise.all(jobs.map((job) => this.#journal.wait({ ...job, dueAtMs: dueAtMs(job) })))
  }

  async #writeBackup({ jobs }: RequestBatch, dueAtMs: number): Promise<void> {
    await Promise.all(jobs.map((job) => this.#journal.wait({ ...job, dueAtMs })))
  }
}

function destinationGauges(gate: DestinationGate): Pick<WorkerGauges, 'troubled' | 'paused'> {
  const paused = (): number => gate.health().filter(({ pausedFor }) => pausedFor !== '').length
  return { troubled: () => gate.health().length, paused }
}

function abortAfter(waitMs: number): [AbortSignal, NodeJS.Timeout] {
  const controller = new AbortController()
  return [controller.signal, setTimeout(() => controller.abort(), waitMs)]
}

/** False if the time limit came first. Rejects if the attempt does. */
function endsInTime(attempt: Promise<void>, limit: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(false)
    if (limit.aborted) giveUp()
    limit.addEventListener('abort', giveUp, { once: true })
    attempt.then(() => resolve(true), reject).finally(() => limit.removeEventListener('abort', giveUp))
  })
}
