/**
 * Limits how many requests are under way at once, by how fast they are answered: many while the API server is fast, few while it is slow.
 * Requests that queue at the API server delay those of everyone else, and those that publish a change.
 */

interface AdaptiveLimit {
  readonly limit: () => number
  /** To be called with the times of each request that ended, by the same clock. */
  readonly ended: (startedAtMs: number, endedAtMs: number) => void
}

interface AdaptiveLimitOptions {
  readonly most: number
  /** A request that takes longer halves the limit. */
  readonly slowMs: number
}

const LEAST = 2

/** Grows by one for each round of fast requests, as TCP does, and halves once for all that were under way when the server became slow. */
export function createAdaptiveLimit({ most, slowMs }: AdaptiveLimitOptions): AdaptiveLimit {
  let limit = most
  let halvedAtMs = Number.NEGATIVE_INFINITY
  return {
    limit: () => Math.floor(limit),
    ended: (startedAtMs, endedAtMs) => {
      if (endedAtMs - startedAtMs <= slowMs) {
        limit = Math.min(most, limit + 1 / limit)
        return
      }
      if (startedAtMs < halvedAtMs) return
      limit = Math.max(Math.min(LEAST, most), limit / 2)
      halvedAtMs = endedAtMs
    },
  }
}
