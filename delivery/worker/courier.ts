/** Takes jobs to their destinations: acts on what `way.ts` decides for each, within slots and a batch's patience. */

import type { Registry } from 'prom-client'

import type { Catalog, Credentials } from '../../domain/catalog.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import { makeAttempt, type Answer, type AttemptDeps } from './attempt.ts'
import type { Tokens } from '../exchange/auth.ts'
import type { DestinationGate, DestinationHealth } from './destination-gate.ts'
import { createJobJournal, type JobJournal } from './job-journal.ts'
import { parcelsOf, ParcelSizes, type Going, type Parcel } from './parcel.ts'
import type { DestinationContext, Provider } from '../providers/provider.ts'
import { QueuePace } from './queue-pace.ts'
import { Quotas } from './quota.ts'
import type { Sender } from '../exchange/send.ts'
import { attemptKey, type SettledJobs } from '../recovery/settled-jobs.ts'
import { AskedOnce } from './asked-once.ts'
import { Slots, type SlotClaim } from './slots.ts'
import { BUSY_MS, contextOf, wayOf, type Way } from './way.ts'
import { createWorkerMetrics, NO_METRICS, type WorkerGauges } from './worker-metrics.ts'

export interface CourierDeps {
  readonly provider: Provider
  /** Origin of the provider's API. */
  readonly baseUrl: string
  readonly eventLog: Pick<EventLog, 'append'>
  readonly hotState: Pick<HotState, 'claimJob' | 'releaseJob'>
  readonly catalog: () => Catalog
  readonly credentials: () => Credentials
  readonly nowMs: () => number
  /** From 0 up to, but not including, 1. */
  readonly random: () => number
  readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>
  readonly registry?: Registry
  readonly sender: Sender
  /** Null for providers that need no access token. */
  readonly tokens: Tokens | null
  readonly settledJobs: SettledJobs
  readonly gate: DestinationGate
}

const SLOTS = { perKey: 8, total: 512 }
/** A batch waits so long for free slots; jobs that got none step aside into the shortest tier. */
const SLOT_PATIENCE_MS = 250
/** A batch waits so long for answers; then what is under way goes on without it. */
const ANSWER_PATIENCE_MS = 500
/** The copy of a job on its way comes up when its exchange is surely over. */
const COPY_AFTER_MS = 3 * LIMITS.webhookMs

/** Who waits for room comes up so long before the deadline, whatever room was promised. */
const LAST_CALL_MS = 60_000

interface Patience {
  readonly forSlot: AbortSignal
  readonly forAnswer: AbortSignal
}

type Staying = Exclude<Way, { kind: 'go' }>

/** Owns what one worker process knows of its exchanges and destinations. */
export class Courier {
  readonly #deps: CourierDeps
  readonly #journal: JobJournal
  readonly #attemptDeps: AttemptDeps
  readonly #gate: DestinationGate
  readonly #slots = new Slots(SLOTS)
  readonly #sizes = new ParcelSizes()
  readonly #pace = new QueuePace(SLOTS.perKey)
  readonly #quotas: Quotas
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(deps: CourierDeps) {
    this.#deps = deps
    this.#gate = deps.gate
    const gauges = { inFlight: () => this.#slots.inFlight, ...gatesOf(this.#gate) }
    const { registry, provider } = deps
    const metrics = registry === undefined ? NO_METRICS : createWorkerMetrics(registry, provider.id, gauges)
    const journal = createJobJournal({ ...deps, metrics })
    const quotas = new Quotas(provider.quotas)
    const own = { journal, metrics, quotas, gate: this.#gate, sizes: this.#sizes }
    this.#journal = journal
    this.#quotas = quotas
    this.#attemptDeps = { ...deps, ...own, answers: new AskedOnce<Answer>() }
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
    const nowMs = this.#deps.nowMs()
    const { goings, others } = this.#sorted(jobs, nowMs)
    const rules = { provider: this.#deps.provider, mostJobs: (key: string) => this.#sizes.most(key), nowMs }
    const results = await Promise.allSettled([
      ...others.map(({ job, way }) => this.#putOff(job, way)),
      ...parcelsOf(goings, rules).map((parcel) => this.#go(parcel, { forSlot, forAnswer })),
    ])
    clearTimeout(slotTimer)
    clearTimeout(answerTimer)
    const broken = results.find((result) => result.status === 'rejected')
    if (broken !== undefined) throw new Error('a job could not be taken up', { cause: broken.reason })
  }

  /** Resolves when no exchange is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }

  #sorted(jobs: readonly Job[], nowMs: number): { goings: Going[]; others: { job: Job; way: Staying }[] } {
    const goings: Going[] = []
    const others: { job: Job; way: Staying }[] = []
    const seen = new Set<string>()
    const parts = { gate: this.#gate, underWay: this.#underWay }
    for (const job of jobs) {
      const isSecond = seen.has(attemptKey(job))
      seen.add(attemptKey(job))
      const way: Way = isSecond
        ? { kind: 'wait', untilMs: nowMs + BUSY_MS }
        : wayOf({ ...this.#deps, ...parts }, job, nowMs)
      if (way.kind === 'go') goings.push({ job, way })
      else others.push({ job, way })
    }
    return { goings, others }
  }

  async #putOff(job: Job, way: Staying): Promise<void> {
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
    }
  }

  async #go(parcel: Parcel, patience: Patience): Promise<void> {
    const { key, isTrusted, organization, jobs, goal } = parcel
    const nowMs = this.#deps.nowMs()
    const claim = { key, organization, most: this.#gate.mostInFlight(key, SLOTS.perKey, nowMs) }
    const isQueueShort = !this.#pace.isCrowded(key, nowMs) || this.#slots.waiting(key) < SLOTS.perKey
    const mayWait = isTrusted && isQueueShort
    const hasSlot = mayWait ? await this.#slots.take(claim, patience.forSlot) : this.#slots.tryTake(claim)
    if (!hasSlot) return this.#stepAside(parcel, this.#pace.book(key, BUSY_MS, this.#deps.nowMs()))
    const roomAtMs = this.#roomAtMs(contextOf(goal), jobs)
    if (roomAtMs !== null) {
      this.#slots.give(claim)
      return this.#stepAside(parcel, roomAtMs)
    }
    if (!isTrusted) return this.#goAlone(parcel, claim)
    const exchange = this.#start(parcel, claim)
    if (await isOverInTime(exchange, patience.forAnswer)) return
    this.#gate.slow(key, 1, this.#deps.nowMs())
    void exchange.catch(() => undefined).then(() => this.#gate.slow(key, -1, this.#deps.nowMs()))
    await this.#leave(parcel, this.#deps.nowMs() + COPY_AFTER_MS)
  }

  /** Null where the provider's quotas have room, which is then taken. */
  #roomAtMs(context: DestinationContext, jobs: readonly Job[]): number | null {
    if (jobs[0]?.accepted !== undefined) return null
    return this.#quotas.take(context, { requests: 1, deliveries: jobs.length }, this.#deps.nowMs())
  }

  /** A destination in trouble must not make a batch wait: copies on the log stand in for the exchange. */
  async #goAlone(parcel: Parcel, claim: SlotClaim): Promise<void> {
    try {
      await this.#leave(parcel, this.#deps.nowMs() + COPY_AFTER_MS)
    } catch (error) {
      this.#slots.give(claim)
      throw error
    }
    void this.#start(parcel, claim).catch(() => undefined)
  }

  /** Sends and settles; rejects where an outcome could not be written, so that the job comes again. */
  async #start(parcel: Parcel, claim: SlotClaim): Promise<void> {
    const startedAtMs = this.#deps.nowMs()
    const keys = parcel.jobs.map(attemptKey)
    const exchange = makeAttempt(this.#attemptDeps, parcel)
    for (const key of keys) this.#underWay.set(key, exchange)
    try {
      await exchange
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'unknown'
      const fields = { provider: this.#deps.provider.id, destination: parcel.key, jobs: keys.length, cause }
      this.#deps.logger.error(fields, 'attempt not written down')
      throw error
    } finally {
      this.#slots.give(claim)
      this.#pace.took(parcel.key, this.#deps.nowMs() - startedAtMs, this.#deps.nowMs())
      for (const key of keys) this.#underWay.delete(key)
    }
  }

  /** Not beyond a last call before the deadline: there may be room after all. */
  async #stepAside({ jobs }: Parcel, roomAtMs: number): Promise<void> {
    const soonMs = this.#deps.nowMs() + BUSY_MS
    const dueAtMs = (job: Job): number => Math.max(soonMs, Math.min(roomAtMs, job.deadlineAtMs - LAST_CALL_MS))
    await Promise.all(jobs.map((job) => this.#journal.wait({ ...job, dueAtMs: dueAtMs(job) })))
  }

  async #leave({ jobs }: Parcel, dueAtMs: number): Promise<void> {
    await Promise.all(jobs.map((job) => this.#journal.wait({ ...job, dueAtMs })))
  }
}

function gatesOf(gate: DestinationGate): Pick<WorkerGauges, 'troubled' | 'paused'> {
  const paused = (): number => gate.health().filter(({ pausedFor }) => pausedFor !== '').length
  return { troubled: () => gate.health().length, paused }
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
