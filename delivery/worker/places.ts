/** Places for exchanges with the destinations of one worker: how many each gets, who waits for one, and when one is free again. */

import { QueuePace } from '../queue-pace.ts'
import { Slots, type SlotClaim } from '../slots.ts'
import type { DestinationGate } from './destination-gate.ts'
import { BUSY_MS } from './next-action.ts'
import type { RequestBatch } from './request-batch.ts'

const SLOTS = { perKey: 8, total: 512, leavesRoom: true }

export class Places {
  readonly #gate: DestinationGate
  readonly #slots = new Slots(SLOTS)
  readonly #pace = new QueuePace(SLOTS.perKey)

  constructor(gate: DestinationGate) {
    this.#gate = gate
  }

  get inFlight(): number {
    return this.#slots.inFlight
  }

  /** Null if the batch gets none now, or may wait and got none until `limit` was aborted. */
  async take(
    { key, isTrusted, organization }: RequestBatch,
    nowMs: number,
    limit: AbortSignal,
  ): Promise<SlotClaim | null> {
    const claim = { key, organization, most: this.#gate.mostInFlight(key, SLOTS.perKey, nowMs) }
    const isQueueShort = !this.#pace.isCrowded(key, nowMs) || this.#slots.waiting(key) < SLOTS.perKey
    const mayWait = isTrusted && isQueueShort
    const hasSlot = mayWait ? await this.#slots.take(claim, limit) : this.#slots.tryTake(claim)
    return hasSlot ? claim : null
  }

  /** When one is expected to be free for a batch that got none, in Unix ms. */
  bookedAtMs(key: string, nowMs: number): number {
    return this.#pace.book(key, BUSY_MS, nowMs)
  }

  /** Gives back a place that was not used. */
  give(claim: SlotClaim): void {
    this.#slots.give(claim)
  }

  /** Gives back a place after an exchange. */
  ended(claim: SlotClaim, startedAtMs: number, nowMs: number): void {
    this.#slots.give(claim)
    this.#pace.took(claim.key, nowMs - startedAtMs, nowMs)
  }

  /** Counts attempts that batches stopped waiting for; while there is one, the destination is not trusted. */
  slow(key: string, change: 1 | -1, nowMs: number): void {
    this.#gate.slow(key, change, nowMs)
  }
}
