/** Takes jobs to their destinations: acts on what `way.ts` decides for each, within slots and a batch's patience. */

import { destinationKey } from '../domain/catalog.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Job } from '../domain/records.ts'
import { makeAttempt } from './attempt.ts'
import type { Tokens } from './auth.ts'
import { DestinationGate, type DestinationHealth } from './destination-gate.ts'
import { createJobJournal, type JobJournal } from './job-journal.ts'
import type { Sender } from './send.ts'
import { attemptKey, type SettledJobs } from './settled-jobs.ts'
import { Slots } from './slots.ts'
import { BUSY_MS, wayOf, type Way } from './way.ts'
import type { WorkerDeps } from './worker.ts'
import { createWorkerMetrics, NO_METRICS, type WorkerMetrics } from './worker-metrics.ts'

export interface CourierDeps extends WorkerDeps {
  readonly sender: Sender
  /** Null for providers that need no access token. */
  readonly tokens: Tokens | null
  readonly settledJobs: SettledJobs
}

const SLOTS = { perKey: 8, total: 512 }
/** A batch waits so long for free slots; jobs that got none step aside into the shortest tier. */
const SLOT_PATIENCE_MS = 250
/** A batch waits so long for answers; then what is under way goes on without it. */
const ANSWER_PATIENCE_MS = 500
/** The copy of a job on its way comes up when its exchange is surely over. */
const COPY_AFTER_MS = 3 * LIMITS.webhookMs

interface Patience {
  readonly forSlot: AbortSignal
  readonly forAnswer: AbortSignal
}

type Going = Extract<Way, { kind: 'go' }>

/** Owns what one worker process knows of its exchanges and destinations. */
export class Courier {
  readonly #deps: CourierDeps
  readonly #metrics: WorkerMetrics
  readonly #journal: JobJournal
  readonly #gate = new DestinationGate()
  readonly #slots = new Slots(SLOTS)
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(deps: CourierDeps) {
    this.#deps = deps
    const gauges = { inFlight: () => this.#slots.inFlight, troubled: () => this.#gate.health().length }
    const { registry, provider } = deps
    this.#metrics = registry === undefined ? NO_METRICS : createWorkerMetrics(registry, provider.id, gauges)
    this.#journal = createJobJournal({ ...deps, metrics: this.#metrics })
  }

  get inFlight(): number {
    return this.#slots.inFlight
  }

  troubled(): readonly DestinationHealth[] {
    return this.#gate.health()
  }

  /** Resolves when each job has ended, waits in a tier, or is on its way with a copy in a tier. */
  async take(jobs: readonly Job[]): Promise<void> {
    const [forSlot, slotTimer] = abortAfter(SLOT_PATIENCE_MS)
    const [forAnswer, answerTimer] = abortAfter(ANSWER_PATIENCE_MS)
    const results = await Promise.allSettled(jobs.map((job) => this.#takeOne(job, { forSlot, forAnswer })))
    clearTimeout(slotTimer)
    clearTimeout(answerTimer)
    const broken = results.find((result) => result.status === 'rejected')
    if (broken !== undefined) throw new Error('a job could not be taken up', { cause: broken.reason })
  }

  /** Resolves when no exchange is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }

  async #takeOne(job: Job, patience: Patience): Promise<void> {
    const parts = { gate: this.#gate, underWay: this.#underWay }
    const way = wayOf({ ...this.#deps, ...parts }, job, this.#deps.nowMs())
    switch (way.kind) {
      case 'drop':
        return
      case 'wait':
        return this.#journal.wait({ ...job, dueAtMs: way.untilMs })
      case 'hold':
        return this.#journal.hold(job, way.reason, way.untilMs)
      case 'end':
        await this.#journal.end(job, way)
        this.#deps.settledJobs.add(job)
        return
      case 'go':
        return this.#go(job, way, patience)
    }
  }

  async #go(job: Job, way: Going, patience: Patience): Promise<void> {
    const slotKey = destinationKey(job.website, job.destination)
    const hasSlot = way.isTrusted ? await this.#slots.take(slotKey, patience.forSlot) : this.#slots.tryTake(slotKey)
    if (!hasSlot) return this.#journal.wait({ ...job, dueAtMs: this.#deps.nowMs() + BUSY_MS })
    if (!way.isTrusted) return this.#goAlone(job, way, slotKey)
    const exchange = this.#start(job, way, slotKey)
    if (await isOverInTime(exchange, patience.forAnswer)) return
    this.#gate.slow(slotKey, 1, this.#deps.nowMs())
    void exchange.catch(() => undefined).then(() => this.#gate.slow(slotKey, -1, this.#deps.nowMs()))
    await this.#leaveCopy(job)
  }

  /** A destination in trouble must not make a batch wait: a copy on the log stands in for the exchange. */
  async #goAlone(job: Job, way: Going, slotKey: string): Promise<void> {
    try {
      await this.#leaveCopy(job)
    } catch (error) {
      this.#slots.give(slotKey)
      throw error
    }
    void this.#start(job, way, slotKey).catch(() => undefined)
  }

  /** Sends and settles; rejects where the outcome could not be written, so that the job comes again. */
  async #start(job: Job, way: Going, slotKey: string): Promise<void> {
    const key = attemptKey(job)
    const parts = { journal: this.#journal, gate: this.#gate, metrics: this.#metrics }
    const exchange = makeAttempt({ ...this.#deps, ...parts }, job, way.goal)
    this.#underWay.set(key, exchange)
    try {
      await exchange
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'unknown'
      this.#deps.logger.error({ provider: job.provider, jobId: job.jobId, cause }, 'attempt not written down')
      throw error
    } finally {
      this.#slots.give(slotKey)
      this.#underWay.delete(key)
    }
  }

  #leaveCopy(job: Job): Promise<void> {
    return this.#journal.wait({ ...job, dueAtMs: this.#deps.nowMs() + COPY_AFTER_MS })
  }
}

function abortAfter(waitMs: number): [AbortSignal, NodeJS.Timeout] {
  const controller = new AbortController()
  return [controller.signal, setTimeout(() => controller.abort(), waitMs)]
}

/** False when the batch's patience ended first; an exchange that ended badly rejects. */
function isOverInTime(exchange: Promise<void>, patience: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(false)
    if (patience.aborted) giveUp()
    patience.addEventListener('abort', giveUp, { once: true })
    exchange.then(() => resolve(true), reject).finally(() => patience.removeEventListener('abort', giveUp))
  })
}
