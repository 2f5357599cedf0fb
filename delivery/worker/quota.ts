/** Keeps to what a provider documents that it takes in a time: token buckets, filled slowly and never emptied at once. */

import type { DestinationContext, ProviderQuota } from '../providers/provider.ts'

interface Bucket {
  /** Below 0 where something was sent all the same. */
  units: number
  filledAtMs: number
}

/** A quarter may go at once, and three quarters come back in its time: no stretch of that time can hold more than all. */
const AT_ONCE = 0.25
const BACK = 0.75
/** Buckets kept; a full one is as good as none. */
const SWEEP_SIZE = 2_000

export interface Spending {
  readonly requests: number
  readonly deliveries: number
}

/** Of one process: several workers of one provider have a quota each, and the provider's own throttling for the rest. */
export class Quotas {
  readonly #quotas: readonly ProviderQuota[]
  readonly #buckets = new Map<string, Bucket>()

  constructor(quotas: readonly ProviderQuota[] = []) {
    this.#quotas = quotas
  }

  /** Null with the units taken; else when there may be as many, in Unix ms. */
  take(context: DestinationContext, spending: Spending, nowMs: number): number | null {
    const bills = this.#bills(context, spending, nowMs)
    const waits = bills.map(({ quota, bucket, units }) => {
      const least = Math.min(units, quota.units * AT_ONCE)
      return bucket.units >= least ? 0 : ((least - bucket.units) * quota.perMs) / (quota.units * BACK)
    })
    const longestMs = Math.ceil(Math.max(0, ...waits))
    if (longestMs > 0) return nowMs + longestMs
    for (const { bucket, units } of bills) bucket.units -= units
    return null
  }

  /** For what is sent in any case; what comes next waits for it. */
  spend(context: DestinationContext, spending: Spending, nowMs: number): void {
    for (const { bucket, units } of this.#bills(context, spending, nowMs)) bucket.units -= units
  }

  #bills(context: DestinationContext, spending: Spending, nowMs: number) {
    return this.#quotas.map((quota, index) => {
      const bucket = this.#bucket(`${index} ${quota.bucketOf(context)}`, quota, nowMs)
      return { quota, bucket, units: spending[quota.counts] }
    })
  }

  #bucket(key: string, quota: ProviderQuota, nowMs: number): Bucket {
    const known = this.#buckets.get(key)
    if (known !== undefined) {
      fill(known, quota, nowMs)
      return known
    }
    if (this.#buckets.size >= SWEEP_SIZE) this.#sweep(nowMs)
    const bucket = { units: quota.units * AT_ONCE, filledAtMs: nowMs }
    this.#buckets.set(key, bucket)
    return bucket
  }

  #sweep(nowMs: number): void {
    for (const [key, bucket] of this.#buckets) {
      const quota = this.#quotas[Number(key.split(' ')[0])]
      if (quota === undefined) continue
      fill(bucket, quota, nowMs)
      if (bucket.units >= quota.units * AT_ONCE) this.#buckets.delete(key)
    }
  }
}

function fill(bucket: Bucket, quota: ProviderQuota, nowMs: number): void {
  // A clock that was set back gives nothing, and takes nothing away.
  const passedMs = Math.max(0, nowMs - bucket.filledAtMs)
  bucket.units = Math.min(quota.units * AT_ONCE, bucket.units + (passedMs * quota.units * BACK) / quota.perMs)
  bucket.filledAtMs = nowMs
}
