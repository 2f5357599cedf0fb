/** Keeps within the quotas that a provider documents, with token buckets that allow a burst of a quarter. */

import type { DestinationContext, ProviderQuota } from '../providers/provider.ts'

interface Bucket {
  /** Below 0 if something was sent although the quota was used up. */
  units: number
  filledAtMs: number
}

/** A burst of a quarter, and three quarters refilled per period: no period can contain more than the whole quota. */
const BURST = 0.25
const REFILL = 0.75
/** At this many buckets, full ones are forgotten: a full bucket equals a new one. */
const SWEEP_SIZE = 2_000

interface Spending {
  readonly requests: number
  readonly deliveries: number
}

/** Per process: each worker of a provider has a quota of its own, and the provider throttles the rest. */
export class Quotas {
  readonly #quotas: readonly ProviderQuota[]
  readonly #buckets = new Map<string, Bucket>()

  constructor(quotas: readonly ProviderQuota[] = []) {
    this.#quotas = quotas
  }

  /** Null once the units are taken; otherwise when there will be enough, in Unix ms. */
  take(context: DestinationContext, spending: Spending, nowMs: number): number | null {
    const charges = this.#charges(context, spending, nowMs)
    const waits = charges.map(({ quota, bucket, units }) => {
      const least = Math.min(units, quota.units * BURST)
      return bucket.units >= least ? 0 : ((least - bucket.units) * quota.perMs) / (quota.units * REFILL)
    })
    const longestMs = Math.ceil(Math.max(0, ...waits))
    if (longestMs > 0) return nowMs + longestMs
    for (const { bucket, units } of charges) bucket.units -= units
    return null
  }

  /** Takes units for what is sent in any case; later requests wait for them. */
  spend(context: DestinationContext, spending: Spending, nowMs: number): void {
    for (const { bucket, units } of this.#charges(context, spending, nowMs)) bucket.units -= units
  }

  #charges(context: DestinationContext, spending: Spending, nowMs: number) {
    return this.#quotas.map((quota, index) => {
      const bucket = this.#bucket(`${index} ${quota.bucketOf(context)}`, quota, nowMs)
      return { quota, bucket, units: spending[quota.counts] }
    })
  }

  #bucket(key: string, quota: ProviderQuota, nowMs: number): Bucket {
    const known = this.#buckets.get(key)
    if (known !== undefined) {
      refillBucket(known, quota, nowMs)
      return known
    }
    if (this.#buckets.size >= SWEEP_SIZE) this.#sweep(nowMs)
    const bucket = { units: quota.units * BURST, filledAtMs: nowMs }
    this.#buckets.set(key, bucket)
    return bucket
  }

  #sweep(nowMs: number): void {
    for (const [key, bucket] of this.#buckets) {
      const quota = this.#quotas[Number(key.split(' ')[0])]
      if (quota === undefined) continue
      refillBucket(bucket, quota, nowMs)
      if (bucket.units >= quota.units * BURST) this.#buckets.delete(key)
    }
  }
}

function refillBucket(bucket: Bucket, quota: ProviderQuota, nowMs: number): void {
  // A clock that was set back neither adds nor removes units.
  const passedMs = Math.max(0, nowMs - bucket.filledAtMs)
  bucket.units = Math.min(quota.units * BURST, bucket.units + (passedMs * quota.units * REFILL) / quota.perMs)
  bucket.filledAtMs = nowMs
}
