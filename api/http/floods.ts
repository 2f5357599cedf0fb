/** Bounds what refusals may write that no rate limit bounds: so many records a second, so many bodies a minute and address. */

import { LIMITS } from '../../domain/limits.ts'

export interface Floods {
  /** Whether a further record of such a refusal may go to the log. */
  readonly takesRecord: () => boolean
  /** Whether its body may go along; else its length and digest stand for it. */
  readonly takesBody: (addressHash: string) => boolean
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
/** Addresses whose bodies are counted in one minute; no others keep theirs. */
const ADDRESSES_MAX = 100_000

export function createFloods(nowMs: () => number): Floods {
  const records = window(SECOND_MS, nowMs)
  const bodies = window(MINUTE_MS, nowMs)
  return {
    takesRecord: () => records.count('') <= LIMITS.loggedRefusalsPerS,
    takesBody: (addressHash) => bodies.count(addressHash) <= LIMITS.refusedBodiesPerMinute,
  }
}

/** Counts by key in windows of this process that lie on the clock; infinite for keys that do not fit any more. */
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
