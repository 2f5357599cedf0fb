/** Bounds the exchanges under way: so many per destination, and so many in all. */

export interface SlotLimits {
  readonly perKey: number
  readonly total: number
}

interface Waiter {
  readonly key: string
  readonly wake: () => void
}

/** First come, first served among those that could go on; a key without room does not hold others back. */
export class Slots {
  readonly #limits: SlotLimits
  readonly #taken = new Map<string, number>()
  #total = 0
  #waiters: Waiter[] = []

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get inFlight(): number {
    return this.#total
  }

  tryTake(key: string): boolean {
    if (!this.#hasRoom(key)) return false
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1)
    this.#total += 1
    return true
  }

  /** True with a slot; false when `patience` ended first. */
  async take(key: string, patience: AbortSignal): Promise<boolean> {
    while (!this.tryTake(key)) {
      if (patience.aborted) return false
      await this.#room(key, patience)
    }
    return true
  }

  give(key: string): void {
    const left = (this.#taken.get(key) ?? 1) - 1
    if (left === 0) this.#taken.delete(key)
    else this.#taken.set(key, left)
    this.#total -= 1
    const next = this.#waiters.find((waiter) => this.#hasRoom(waiter.key))
    next?.wake()
  }

  #hasRoom(key: string): boolean {
    return this.#total < this.#limits.total && (this.#taken.get(key) ?? 0) < this.#limits.perKey
  }

  #room(key: string, patience: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        patience.removeEventListener('abort', wake)
        resolve()
      }
      const waiter: Waiter = { key, wake }
      this.#waiters.push(waiter)
      patience.addEventListener('abort', wake)
    })
  }
}
