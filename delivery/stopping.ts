/** A stop in two steps: nothing new is begun, and a little later the work in flight is given up, since a call may hang. */

import { unlessAborted } from '../common/deadline.ts'
import type { FactsReader, FactsWriter } from '../ports/facts/facts.ts'

export interface Stopping {
  /** Aborted when the stop begins. */
  readonly signal: AbortSignal
  /** Calls `act`; rejects once the work is given up. */
  readonly unlessGivenUp: <T>(act: () => Promise<T>) => Promise<T>
  /** Begins the stop. Resolves when the work has ended; the work must end soon after the calls it waits for. */
  readonly end: (work: Promise<unknown>) => Promise<void>
}

/** How long a stop waits for work in flight; what takes longer may never end. */
const LAST_ANSWER_MS = 3_000

/** For a role whose work can be repeated from any step. */
export function createStopping(): Stopping {
  const begun = new AbortController()
  const givenUp = new AbortController()
  return {
    signal: begun.signal,
    unlessGivenUp: (act) => unlessAborted(givenUp.signal, act),
    async end(work) {
      begun.abort()
      const timer = setTimeout(() => givenUp.abort(), LAST_ANSWER_MS)
      await work
      clearTimeout(timer)
    },
  }
}

/** The same facts, for work that a stop gives up. */
export function stoppableFacts(facts: FactsReader & FactsWriter, stopping: Stopping): FactsReader & FactsWriter {
  return {
    run: (query, params, options) => stopping.unlessGivenUp(() => facts.run(query, params, options)),
    insert: (table, rows) => stopping.unlessGivenUp(() => facts.insert(table, rows)),
  }
}
