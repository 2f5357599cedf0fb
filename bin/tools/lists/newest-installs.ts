/** The newest installs, as the commands show them. */

import type { FactsReader } from '../../../ports/facts/facts.ts'
import { readFirstRecords } from '../../../dashboard/reads/first-records.ts'
import type { FoundRows } from '../../../domain/logs/first-records.ts'
import { boundsBefore } from '../../../domain/logs/walk.ts'
import type { InstallRow } from '../../../ports/facts/query-rows.ts'
import type { QUERIES } from '../../../ports/facts/queries.ts'

type InstallsAsked = Parameters<(typeof QUERIES)['listInstallKeys']['sql']>[0]

/** The newest of a window, and how far back they are complete. */
export function readNewestInstalls(
  facts: FactsReader,
  { limit, ...asked }: InstallsAsked,
): Promise<FoundRows<InstallRow>> {
  return readFirstRecords(limit, {
    keys: (most) => facts.run('listInstallKeys', { ...asked, limit: most }),
    rows: (eventIds) => facts.run('listInstalls', { ...asked, event_ids: eventIds }),
  })
}

/** As many as `limit` says, newest first, however many events of other times were recorded again among them. */
export async function newestInstalls(
  backend: FactsReader,
  { limit, ...asked }: InstallsAsked,
): Promise<readonly InstallRow[]> {
  const found: InstallRow[] = []
  let bounds: Partial<ReturnType<typeof boundsBefore>> = {}
  for (;;) {
    const window = { ...asked, ...bounds, limit: limit - found.length }
    const { rows, reached } = await readNewestInstalls(backend, window)
    found.push(...rows)
    if (found.length >= limit || reached === null) return found.slice(0, limit)
    bounds = boundsBefore(reached)
  }
}
