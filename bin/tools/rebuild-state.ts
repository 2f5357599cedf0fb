/** `whencectl rebuild-state`: refills a Redis that lost its data from ClickHouse, while the service runs. */

import { rebuildState } from '../../delivery/recovery/rebuild-state.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import type { RunOutcome } from '../../runtime/settings/settings.ts'
import { complain, print } from '../terminal/output.ts'

/** Longer than a request may wait: Redis is slower while it is being filled. */
const VERB_MS = 5_000

export async function rebuildStateTool({ settings }: RunOutcome<'rebuild-state'>): Promise<number> {
  const { hotState: stateEngine, facts: factsEngine } = settings
  const facts = clickhouseFacts(openClickHouse(factsEngine.url), { nowMs: Date.now })
  try {
    const hotState = await redisHotState(stateEngine.url, { whenAway: 'reject', times: { deadlineMs: VERB_MS } })
    try {
      const report = await rebuildState({ facts, hotState, nowMs: Date.now, onProgress: reportRows })
      const { activations, installs, organizations } = report
      print(`Applied: ${activations} activations, ${installs} answers, usage of ${organizations} organisations\n`)
      return 0
    } finally {
      await hotState.close()
    }
  } finally {
    await facts.close()
  }
}

function reportRows(what: string, rows: number): void {
  complain(`${what}: ${rows}\n`)
}
