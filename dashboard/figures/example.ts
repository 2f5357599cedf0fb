/** Made-up traffic in figures: pages say that they count it, and the checklist does not. */

import { DAY_MS } from '../../domain/durations.ts'
import { EXAMPLE_DATA, exampleEndMs } from '../../domain/figures/example-data.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { ScopedQueries } from '../reads/scope.ts'

/** It is filled in once or twice, for a trial. */
const MOST_FILLS = 100

type ExampleReads = ScopedQueries & { readonly websites: readonly { readonly id: string }[] }

/** When the newest made-up traffic of these websites ends, Unix ms; null if there is none from `sinceMs` on. */
export async function readExampleUntil(reads: ExampleReads, sinceMs: number, nowMs: number): Promise<number | null> {
  const fills = await reads.run('activityPage', {
    type: EXAMPLE_DATA.activityType,
    limit: MOST_FILLS,
    since_ms: nowMs - LIMITS.retentionDays.max * DAY_MS,
    until_ms: nowMs + LIMITS.clockSkewMs,
  })
  const newest = fills.find(({ subject }) => reads.websites.some(({ id }) => id === subject))
  const untilMs = newest === undefined ? 0 : exampleEndMs(newest.noticed_at_ms)
  return untilMs > sinceMs ? untilMs : null
}
