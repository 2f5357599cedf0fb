/** Repeats the work of a role until the role is closed. */

import { every } from '../common/every.ts'
import { createStopping, type Stopping } from './stopping.ts'

interface Repeated {
  /** One round. It must end soon after a stop has given up the calls that it waits for. */
  readonly act: (stopping: Stopping) => Promise<void>
  /** Pause between two rounds, in ms. */
  readonly everyMs: number
  /** Reports a round that rejected; the next round follows all the same. Not called for a round that was stopped. */
  readonly onFailure: (reason: string) => void
}

/** Starts at once. `close` resolves when the current round has ended. */
export function repeat({ act, everyMs, onFailure }: Repeated): { readonly close: () => Promise<void> } {
  const stopping = createStopping()
  const rounds = every(everyMs, () => act(stopping), {
    onFailure: (error) => onFailure(error instanceof Error ? error.message : 'unknown'),
  })
  return { close: () => stopping.end(rounds.close()) }
}
