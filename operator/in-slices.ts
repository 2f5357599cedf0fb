/** Does long work in slices, so that everything else goes on meanwhile: the renewal of the Lease, probes, watches and a stop. */

import { setImmediate as nextTurn } from 'node:timers/promises'

import type { SmallSteps } from '../domain/published/steps.ts'

const SLICE_MS = 20

/** Rejects between two slices once the signal is aborted. */
export async function inSlices<T>(steps: SmallSteps<T>, signal?: AbortSignal): Promise<T> {
  let beganMs = performance.now()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (performance.now() - beganMs < SLICE_MS) continue
    await nextTurn()
    signal?.throwIfAborted()
    beganMs = performance.now()
  }
}
