/** Waits until nothing is on its way any more, in a tier either. */

import { setTimeout as wait } from 'node:timers/promises'
import { isAwaited, type Distributed } from '../../fixtures/service/distributed.ts'

/** A killed member keeps its partitions for some seconds, and what was parked for them waits for another 30 s. */
const SETTLE_MS = 150_000
const PAUSE_MS = 250

/** Resolves when every topic is worked off and no delivery is open; throws with what is left if that takes too long. */
export async function settled({ eventLog, facts, drain }: Distributed): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_MS
  for (;;) {
    await drain()
    // Read in this order: an entry that leaves a tier becomes an open delivery before it is settled.
    const waiting = (await eventLog.lag()).filter(isAwaited)
    const period = { since_ms: 0, until_ms: Date.now() * 2, limit: 1 }
    const open = await Promise.all(
      ['pending', 'retrying'].map((status) => facts.run('listDeliveries', { ...period, status })),
    )
    if (waiting.length === 0 && open.flat().length === 0) return
    if (performance.now() > deadlineMs) throw new Error(`not settled: ${JSON.stringify({ waiting, open })}`)
    await wait(PAUSE_MS)
  }
}
