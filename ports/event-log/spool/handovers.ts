/** Lets appends wait until a topic's spool is empty: otherwise a steady stream would pass through the spool for ever. */

import type { Topic } from '../../../domain/records.ts'
import { endedWithin } from '../../../common/deadline.ts'

/** Waiting appends hold their entries in memory; any beyond this go through the spool. */
const MAX_WAITING = 20_000

export class SpoolHandovers {
  readonly #handovers = new Map<Topic, PromiseWithResolvers<void>>()
  #waiting = 0

  begin(topic: Topic): void {
    if (!this.#handovers.has(topic)) this.#handovers.set(topic, Promise.withResolvers())
  }

  /** The spool is empty, or the log failed again. The waiting appends continue in the order in which they came. */
  end(topic: Topic): void {
    this.#handovers.get(topic)?.resolve()
    this.#handovers.delete(topic)
  }

  endAll(): void {
    for (const topic of [...this.#handovers.keys()]) this.end(topic)
  }

  /** Null if there is nothing to wait for; otherwise resolves at the end of the handover, or after `forMs`. */
  wait(topic: Topic, forMs: number): Promise<void> | null {
    const handover = this.#handovers.get(topic)
    return handover === undefined || this.#waiting >= MAX_WAITING ? null : this.#waitFor(handover.promise, forMs)
  }

  async #waitFor(end: Promise<void>, forMs: number): Promise<void> {
    this.#waiting++
    await endedWithin(end, forMs)
    this.#waiting--
  }
}
