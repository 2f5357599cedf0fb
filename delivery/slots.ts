/** Limits concurrent calls to other people's servers, per receiver and in total; organisations share the slots fairly. */

interface SlotLimits {
  readonly perKey: number
  readonly total: number
  /**
   * True: an organisation gets no further slot once it holds as many as are free. Alone it gets half of all, beside others that take as much
   * as they can an equal share, and whoever holds none finds one at once.
   */
  readonly leavesRoom?: boolean
}

export interface SlotClaim {
  readonly key: string
  readonly organization: string
  /** Below the limit per key while a destination recovers. */
  readonly most?: number
}

interface Waiter {
  readonly claim: SlotClaim
  readonly wake: () => void
}

/**
 * A free slot goes to the organisation that holds the fewest slots, and among its claims to the oldest; a key at its limit
 * does not block others.
 */
export class Slots {
  readonly #limits: SlotLimits
  readonly #byKey = new Map<string, number>()
  readonly #byOrganization = new Map<string, number>()
  #total = 0
  #waiters: Waiter[] = []

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get inFlight(): number {
    return this.#total
  }

  waiting(key: string): number {
    return this.#waiters.filter(({ claim }) => claim.key === key).length
  }

  tryTake(claim: SlotClaim): boolean {
    if (!this.#hasRoom(claim)) return false
    addToCount(this.#byKey, claim.key, 1)
    addToCount(this.#byOrganization, claim.organization, 1)
    this.#total += 1
    return true
  }

  /** True once a slot is taken; false if `limit` was aborted first. */
  async take(claim: SlotClaim, limit: AbortSignal): Promise<boolean> {
    while (!this.tryTake(claim)) {
      if (limit.aborted) return false
      await this.#room(claim, limit)
    }
    return true
  }

  give(claim: SlotClaim): void {
    addToCount(this.#byKey, claim.key, -1)
    addToCount(this.#byOrganization, claim.organization, -1)
    this.#total -= 1
    this.#next()?.wake()
  }

  #next(): Waiter | undefined {
    let next: Waiter | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const waiter of this.#waiters) {
      const held = this.#byOrganization.get(waiter.claim.organization) ?? 0
      if (held >= fewest || !this.#hasRoom(waiter.claim)) continue
      next = waiter
      fewest = held
      if (held === 0) break
    }
    return next
  }

  #hasRoom({ key, organization, most }: SlotClaim): boolean {
    const { perKey, total, leavesRoom = false } = this.#limits
    const free = total - this.#total
    const held = this.#byOrganization.get(organization) ?? 0
    if (free <= 0 || (leavesRoom && held >= free)) return false
    return (this.#byKey.get(key) ?? 0) < Math.min(most ?? Number.POSITIVE_INFINITY, perKey)
  }

  #room(claim: SlotClaim, limit: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        limit.removeEventListener('abort', wake)
        resolve()
      }
      const waiter: Waiter = { claim, wake }
      this.#waiters.push(waiter)
      limit.addEventListener('abort', wake)
    })
  }
}

function addToCount(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count <= 0) counts.delete(key)
  else counts.set(key, count)
}
