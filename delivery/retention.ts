/**
 * Deletes what websites no longer keep. A row is deleted by its own retention, which was set when it was stored; if the website's has
 * become shorter since, reads hide what is older (`ports/facts/erasure/kept.ts`), and this role deletes it.
 */

import { findOwned, type Catalog } from '../domain/catalog.ts'
import { DAY_MS, MINUTE_MS } from '../domain/durations.ts'
import type { FactsReader, FactsEraser } from '../ports/facts/facts.ts'
import type { Logger } from '../runtime/logger.ts'
import { repeat } from './repeat.ts'

interface RetentionDeps {
  readonly facts: FactsReader & FactsEraser
  readonly catalog: () => Catalog
  readonly nowMs: () => number
  readonly logger: Logger
  readonly everyMs?: number
}

/** One look reads a small column of all visits and installs; several processes that look delete nothing twice. */
const EVERY_MS = 10 * MINUTE_MS

export function startRetention(deps: RetentionDeps): { readonly close: () => Promise<void> } {
  return repeat({
    act: ({ unlessGivenUp }) => unlessGivenUp(() => deleteOlder(deps)),
    everyMs: deps.everyMs ?? EVERY_MS,
    onFailure: (reason) =>
      deps.logger.warn({ reason, task: 'retention' }, 'what websites no longer keep could not be deleted'),
  })
}

/**
 * Websites that the catalog does not have are left alone: their rows go by the retention that they had.
 * @internal
 */
export async function deleteOlder({ facts, catalog, nowMs, logger }: RetentionDeps): Promise<void> {
  for (const { organization, website, days } of await facts.run('longestRetentions', {})) {
    const keptDays = findOwned(catalog(), { organization, website })?.retentionDays ?? days
    if (keptDays >= days) continue
    const isDeleted = await facts.eraseOlder({ organization, website }, nowMs() - keptDays * DAY_MS)
    if (isDeleted) logger.info({ website, days: keptDays }, 'deleted what the website no longer keeps')
  }
}
