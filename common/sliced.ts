/** Long work on the event loop in short slices, so that requests need not wait for all of it. */

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'

interface SlicePace {
  /** Far above what a turn of the event loop costs. */
  readonly sliceMs: number
  /** How long others have the event loop after each slice; 0: for one turn. */
  readonly restMs: number
}

/** Somebody waits for it: far below what a person or a percentile of answers notices. */
const AT_ONCE: SlicePace = { sliceMs: 2, restMs: 0 }
/**
 * Nobody waits for it, or it takes long in any case, as a download does. An answer takes several turns of the event loop, so a slice in each of them is felt: during the 25 ms of a page
 * of a replay, answers came 20 to 40 ms late.
 */
export const IN_BACKGROUND: SlicePace = { sliceMs: 0.5, restMs: 1 }

/** The same items, with a turn of the event loop or more in between whenever those before have taken a slice of time. */
export async function* sliced<T>(items: Iterable<T>, { sliceMs, restMs }: SlicePace = AT_ONCE): AsyncGenerator<T> {
  let beganAtMs = performance.now()
  for (const item of items) {
    if (performance.now() - beganAtMs >= sliceMs) {
      await (restMs === 0 ? nextTurn() : wait(restMs))
      beganAtMs = performance.now()
    }
    yield item
  }
}
