/** Runs jobs: does what `next-action.ts` decides for each, within the concurrency limits and the time that a batch may wait. */

import { LIMITS } from '../../domain/limits.ts'
import type { Job } from '../../domain/records.ts'
import type { SlotClaim } from '../slots.ts'
import { attemptKey } from '../recovery/settled-jobs.ts'
import type { Attempts } from './attempt.ts'
import type { JobJournal } from './job-journal.ts'
import { BUSY_MS, type NextAction } from './next-action.ts'
import type { Places } from './places.ts'
import type { ReadyJob, RequestBatch, RequestRoom } from './request-batch.ts'

interface JobRunnerDeps {
  readonly next: (job: Job, inFlight: ReadonlyMap<string, unknown>, nowMs: number) => NextAction
  readonly attempts: Attempts
  readonly journal: JobJournal
  readonly places: Places
  readonly room: RequestRoom
  readonly nowMs: () => number
}

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

/** Holds what one worker process knows about its attempts in flight. */
export class JobRunner {
  readonly #deps: JobRunnerDeps
  readonly #journal: JobJournal
  readonly #places: Places
  readonly #inFlight = new Map<string, Promise<void>>()
  /** Attempts that some call of `take` is at work on, by `attemptKey`. */
  readonly #taken = new Set<string>()

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps
    this.#journal = deps.journal
    this.#places = deps.places
  }

  /** Resolves when each job has ended, waits in a tier, or is in flight with a backup copy in a tier. */
  async take(jobs: readonly Job[]): Promise<void> {
    const [forSlot, slotTimer] = abortAfter(SLOT_WAIT_MS)
    const [forAnswer, answerTimer] = abortAfter(ANSWER_WAIT_MS)
    const nowMs = this.#deps.nowMs()
    const { ready, deferred, keys } = this.#decide(jobs, nowMs)
    const results = await Promise.allSettled([
      ...deferred.map((each) => this.#defer(each)),
      ...this.#deps.room.batches(ready, nowMs).map((batch) => this.#send(batch, { forSlot, forAnswer })),
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
    for (const job of jobs) {
      const key = attemptKey(job)
      const isSecond = this.#taken.has(key)
      if (!isSecond) keys.push(key)
      this.#taken.add(key)
      const action: NextAction = isSecond
        ? { kind: 'wait', untilMs: nowMs + BUSY_MS }
        : this.#deps.next(job, this.#inFlight, nowMs)
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
        return this.#journal.end(job, action)
      case 'settle':
        return this.#settle(job, action.step)
    }
  }

  async #settle(job: Job, step: Extract<NextAction, { kind: 'settle' }>['step']): Promise<void> {
    const { sessionMode } = job
    if (step.kind === 'done')
      return this.#journal.settle(job, { job, step }, { sessionMode, detail: UNJUDGED, attempt: null })
    // Counted as an attempt, so that a replay is not mistaken for this one.
    const counted = { ...job, attempts: job.attempts + 1 }
    await this.#journal.settle(job, { job: counted, step }, { sessionMode, detail: '', attempt: null })
  }

  async #send(batch: RequestBatch, limits: WaitLimits): Promise<void> {
    const { room, nowMs } = this.#deps
    const { key, isTrusted } = batch
    const claim = await this.#places.take(batch, nowMs(), limits.forSlot)
    if (claim === null) return this.#postpone(batch, this.#places.bookedAtMs(key, nowMs()))
    const quotaAtMs = room.takeQuota(batch, nowMs())
    if (quotaAtMs !== null) {
      this.#places.give(claim)
      return this.#postpone(batch, quotaAtMs)
    }
    if (!isTrusted) return this.#sendInBackground(batch, claim)
    const attempt = this.#attempt(batch, claim)
    if (await endsInTime(attempt, limits.forAnswer)) return
    this.#places.slow(key, 1, nowMs())
    void attempt.catch(() => undefined).then(() => this.#places.slow(key, -1, nowMs()))
    await this.#writeBackup(batch, nowMs() + BACKUP_COPY_AFTER_MS)
  }

  /** A failing destination must not make other jobs wait: backup copies on the log allow the attempt to go on unattended. */
  async #sendInBackground(batch: RequestBatch, claim: SlotClaim): Promise<void> {
    try {
      await this.#writeBackup(batch, this.#deps.nowMs() + BACKUP_COPY_AFTER_MS)
    } catch (error) {
      this.#places.give(claim)
      throw error
    }
    void this.#attempt(batch, claim).catch(() => undefined)
  }

  /** Rejects if a result could not be recorded, so that the jobs are delivered again. */
  async #attempt(batch: RequestBatch, claim: SlotClaim): Promise<void> {
    const startedAtMs = this.#deps.nowMs()
    const keys = batch.jobs.map(attemptKey)
    const attempt = this.#deps.attempts.make(batch)
    for (const key of keys) this.#inFlight.set(key, attempt)
    try {
      await attempt
    } finally {
      this.#places.ended(claim, startedAtMs, this.#deps.nowMs())
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
