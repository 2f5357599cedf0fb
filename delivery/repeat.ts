/** Repeats the work of a role until the role is stopped. */

import { setTimeout as pause } from 'node:timers/promises'

import { createStopping, type Stopping } from './stopping.ts'

interface Repeated {
  /** One round. It must end soon after a stop has given up the calls that it waits for. */
  readonly act: (stopping: Stopping) => Promise<void>
  /** Pause between two rounds, in ms. */
  readonly everyMs: number
  /** Reports a round that rejected; the next round follows all the same. Not called for a round that was stopped. */
  readonly onFailure: (reason: string) => void
}

/** Starts at once. `stop` resolves when the current round has ended. */
export function repeat({ act, everyMs, onFailure }: Repeated): { readonly stop: () => Promise<void> } {
  const stopping = createStopping()
  const { signal } = stopping
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await act(stopping).catch((error: unknown) => {
        if (!signal.aborted) onFailure(error instanceof Error ? error.message : 'unknown')
      })
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
    }
  }
  const ended = loop()
  return { stop: () => stopping.end(ended) }
}
