/** Bounds the records of refusals that no rate limit bounds: records per second, and bodies per minute and address. */

import { createWindowCounts } from '../../common/window-counts.ts'
import { LIMITS } from '../../domain/limits.ts'
import { MINUTE_MS, SECOND_MS } from '../../domain/durations.ts'

interface Floods {
  /** Whether another record of such a refusal may go to the log. */
  readonly takesRecord: () => boolean
  /** Whether it may include the body; otherwise length and digest replace it. Bodies of addresses beyond the bound are not kept. */
  readonly takesBody: (addressHash: string) => boolean
}

export function createFloods(nowMs: () => number): Floods {
  const records = createWindowCounts(SECOND_MS, nowMs)
  const bodies = createWindowCounts(MINUTE_MS, nowMs)
  return {
    takesRecord: () => records.count('') <= LIMITS.loggedRefusalsPerS,
    takesBody: (addressHash) => bodies.count(addressHash) <= LIMITS.refusedBodiesPerMinute,
  }
}
