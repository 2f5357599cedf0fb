/** Bounds the records of refusals that no rate limit bounds: records per second, and bodies per minute and address. */

import { LIMITS } from '../../domain/limits.ts'
import { MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'

interface Floods {
  /** Whether another record of such a refusal may go to the log. */
  readonly takesRecord: () => boolean
  /** Whether it may include the body; otherwise length and digest replace it. */
  readonly takesBody: (addressHash: string) => boolean
}

/** Addresses whose bodies are counted in one minute; bodies of others are not kept. */
const ADDRESSES_MAX = 100_000

export function createFloods(nowMs: () => number): Floods {
  const records = window(SECOND_MS, nowMs)
  const bodies = window(MINUTE_MS, nowMs)
  return {
    takesRecord: () => records.count('') <= LIMITS.loggedRefusalsPerS,
    takesBody: (addressHash) => bodies.count(addressHash) <= LIMITS.refusedBodiesPerMinute,
  }
}

/** Counts by key in clock-aligned windows of this process; infinite for keys beyond the bound. */
function window(lengthMs: number, nowMs: () => number): { readonly count: (key: string) => number } {
  let number = -1
  const counts = new Map<string, number>()
  return {
    count(key) {
      const current = Math.floor(nowMs() / lengthMs)
      if (current !== number) {
        number = current
        counts.clear()
      }
      const count = (counts.get(key) ?? 0) + 1
      if (count === 1 && counts.size >= ADDRESSES_MAX) return Infinity
      counts.set(key, count)
      return count
    },
  }
}
