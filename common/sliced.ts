/** Long work on the event loop in short slices, so that requests need not wait for all of it. */

import { setImmediate as nextTurn } from 'node:timers/promises'

/** Far below what a person or a percentile of answers notices, and far above what a turn of the event loop costs. */
const SLICE_MS = 2

/** The same items, with a turn of the event loop in between whenever those before have taken a slice of time. */
export async function* sliced<T>(items: Iterable<T>): AsyncGenerator<T> {
  let beganAtMs = performance.now()
  for (const item of items) {
    if (performance.now() - beganAtMs >= SLICE_MS) {
      await nextTurn()
      beganAtMs = performance.now()
    }
    yield item
  }
}
