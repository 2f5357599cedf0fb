/**
 * Calls webhooks beside each other: a call that waits for its receiver holds its own place and nobody else's. Places are shared by organisation;
 * a job that finds none in time waits in a tier for about as long as the queue before it takes.
 */

import { endedWithin } from '../../common/deadline.ts'
import type { WebhookJob } from '../../domain/records.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { QueuePace } from '../queue-pace.ts'
import { Slots, type SlotClaim } from '../slots.ts'
import { deliverJob, type DeliverParts } from './deliver.ts'

/** `perKey`: concurrent calls to one webhook. */
const PLACES = { perKey: 5, total: 500, leavesRoom: true }
/** How long a job waits for a place, and how many may wait for one webhook. */
const PLACE_WAIT_MS = 5 * SECOND_MS
const WAITING_MAX = 100
/** A receiver that has taken longer than this is waited for by nobody. */
const SLOW_MS = SECOND_MS
/** The longest that quick receivers hold up the next batch: while they answer, more jobs would only wait in memory. */
const HAND_OVER_MS = 50
/** The shortest wait of a job that found no place. */
const BUSY_MS = 5 * SECOND_MS

interface TakenJobs {
  /** Resolves when the next batch may be handed over. */
  readonly handedOver: Promise<unknown>
  /** Resolves when each job has been sent, has ended, or is durable in a tier. Rejects only if the process stops before. */
  readonly finished: Promise<void>
}

export class WebhookCalls {
  readonly #parts: DeliverParts
  /** Aborted when the process stops. */
  readonly #signal: AbortSignal
  /** Attempts that were recorded before this process began, by `webhookAttemptKey`. */
  readonly #recalled: ReadonlySet<string>
  readonly #slots = new Slots(PLACES)
  readonly #pace = new QueuePace(PLACES.perKey)
  /** How many calls take long at this moment, by webhook. */
  readonly #slow = new Map<string, number>()

  constructor(parts: DeliverParts, recalled: ReadonlySet<string>, signal: AbortSignal) {
    this.#parts = parts
    this.#signal = signal
    this.#recalled = recalled
  }

  take(jobs: readonly WebhookJob[]): TakenJobs {
    const patience = AbortSignal.any([this.#signal, AbortSignal.timeout(PLACE_WAIT_MS)])
    const running = jobs
      .filter((job) => !this.#recalled.has(webhookAttemptKey(job)))
      .map((job) => ({ isQuick: this.#isQuick(webhookOf(job)), ended: this.#run(job, patience) }))
    const quick = running.filter(({ isQuick }) => isQuick)
    const finished = allEnded(running.map(({ ended }) => ended))
    // The log learns of it; until then nobody may be listening.
    finished.catch(() => undefined)
    const ofQuick = Promise.all(quick.map(({ ended }) => ended.catch(() => undefined)))
    return { handedOver: endedWithin(ofQuick, HAND_OVER_MS), finished }
  }

  async #run(job: WebhookJob, patience: AbortSignal): Promise<void> {
    const { gate, nowMs } = this.#parts
    const key = webhookOf(job)
    const { organization } = job
    const claim = { key, organization, most: gate.mostInFlight(key, PLACES.perKey, nowMs()) }
    if (await this.#hasPlace(claim, patience)) await this.#call(job, claim)
    else await this.#parts.journal.postpone(job, this.#pace.book(key, BUSY_MS, nowMs()))
  }

  /** Only a quick receiver is worth waiting for: others have no place free in time. */
  async #hasPlace(claim: SlotClaim, patience: AbortSignal): Promise<boolean> {
    const { key } = claim
    const mayWait = this.#isQuick(key) && this.#slots.waiting(key) < WAITING_MAX
    return mayWait ? this.#slots.take(claim, patience) : this.#slots.tryTake(claim)
  }

  async #call(job: WebhookJob, claim: SlotClaim): Promise<void> {
    const { key } = claim
    const { nowMs } = this.#parts
    const startedAtMs = nowMs()
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
      this.#countSlow(key, 1)
    }, SLOW_MS)
    try {
      const isCalled = await deliverJob(this.#parts, key, job)
      if (isCalled) this.#pace.took(key, nowMs() - startedAtMs, nowMs())
    } finally {
      clearTimeout(timer)
      if (isSlow) this.#countSlow(key, -1)
      this.#slots.give(claim)
    }
  }

  #isQuick(key: string): boolean {
    return !this.#slow.has(key) && this.#pace.exchangeMs(key) <= SLOW_MS
  }

  #countSlow(key: string, change: 1 | -1): void {
    const count = (this.#slow.get(key) ?? 0) + change
    if (count === 0) this.#slow.delete(key)
    else this.#slow.set(key, count)
  }
}

/** The same for every try of one attempt. */
export function webhookAttemptKey({
  messageId,
  attempts,
}: {
  readonly attempts: number
  readonly messageId: string
}): string {
  return `${messageId}:${attempts}`
}

function webhookOf({ organization, webhook }: WebhookJob): string {
  return `${organization} ${webhook}`
}

/** Waits for all of them even if one rejects, so that as much as possible is recorded. */
async function allEnded(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((each) => each.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
