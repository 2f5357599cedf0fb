/** The clock of a service in which a world happens. */

/** It stands at each moment of the world, so that what happens then has that time. */
export interface LedgerClock {
  readonly nowMs: () => number
  readonly set: (toMs: number) => void
  readonly whileItRuns: <T>(act: (skip: (ms: number) => void) => Promise<T>) => Promise<T>
}

export function clockOf(startAt: number): LedgerClock {
  let atMs = startAt
  let runsSinceMs: number | null = null
  return {
    nowMs: () => Math.floor(atMs + (runsSinceMs === null ? 0 : performance.now() - runsSinceMs)),
    set: (toMs: number) => void (atMs = toMs),
    whileItRuns: async (act) => {
      const at = atMs
      runsSinceMs = performance.now()
      try {
        return await act((ms) => void (atMs += ms))
      } finally {
        runsSinceMs = null
        atMs = at
      }
    },
  }
}
