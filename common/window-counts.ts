/** Counts by key in windows of time that are aligned to the clock; the counts are forgotten when their window ends. */

interface WindowCounts {
  /** Adds one and returns the new count; infinite for keys beyond the bound. */
  readonly count: (key: string) => number
}

const KEYS_MAX = 100_000

/** Counts of this process only. */
export function createWindowCounts(lengthMs: number, nowMs: () => number): WindowCounts {
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
      if (count === 1 && counts.size >= KEYS_MAX) return Infinity
      counts.set(key, count)
      return count
    },
  }
}
