/** Waits for what was just put on the log, so that whoever has the answer can then read it. */

import { setTimeout as wait } from 'node:timers/promises'

interface LookTimes {
  /** Before each look, in ms. */
  readonly pausesMs: readonly number[]
  /** Of the client, who may leave. */
  readonly signal: AbortSignal
}

/** It reaches the facts a moment after the log. If they are unavailable or late, this ends all the same: nothing can be lost. */
export async function untilStored(isStored: () => Promise<boolean>, { pausesMs, signal }: LookTimes): Promise<void> {
  try {
    for (const pauseMs of pausesMs) {
      await wait(pauseMs, undefined, { signal })
      if (await isStored()) return
    }
  } catch {
    // The facts are unavailable, or the client has left.
  }
}
