/** Leases in memory: one owner per key until it releases the key or the lease expires. */

export interface Leases {
  /**
   * True if the key was free, had expired, or belongs to this owner already; the owner then holds it for another `leaseMs`.
   */
  take(key: string, owner: string, leaseMs: number): boolean
  isHeldByOther(key: string, owner: string): boolean
  release(key: string, owner: string): void
  /** Deletes expired leases. */
  sweep(): void
}

interface Lease {
  readonly owner: string
  readonly untilMs: number
}

export function memoryLeases(nowMs: () => number): Leases {
  const leases = new Map<string, Lease>()
  const isHeldByOther = (key: string, owner: string): boolean => {
    const lease = leases.get(key)
    return lease !== undefined && lease.owner !== owner && lease.untilMs > nowMs()
  }
  return {
    isHeldByOther,
    take(key, owner, leaseMs) {
      if (isHeldByOther(key, owner)) return false
      leases.set(key, { owner, untilMs: nowMs() + leaseMs })
      return true
    },
    release(key, owner) {
      if (leases.get(key)?.owner === owner) leases.delete(key)
    },
    sweep() {
      for (const [key, lease] of leases) if (lease.untilMs <= nowMs()) leases.delete(key)
    },
  }
}
