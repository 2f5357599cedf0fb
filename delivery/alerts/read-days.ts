/** Reads what websites of one time zone are judged by. */

import type { CountedMoment } from '../../domain/alerts/days.ts'
import { NO_ALERT_COUNTS, type AlertCounts } from '../../domain/alerts/counts.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { ownerKey } from '../../domain/records.ts'
import type { TimeStep } from '../../domain/time-zones.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { ownersOf } from '../../ports/facts/query-parts.ts'

const QUARTER_MS = 15 * MINUTE_MS

/** By `ownerKey`; a website without any facts of that time is absent. Rejects like `Facts`. */
export async function readMoments(
  facts: FactsReader,
  websites: readonly OwnedWebsite[],
  { at, until }: TimeStep,
): Promise<ReadonlyMap<string, readonly CountedMoment[]>> {
  const period = { ...ownersOf(websites), since_ms: at - HOUR_MS, until_ms: until }
  const hours = await facts.run('hourTotals', period)
  const quarters = await facts.run('quarterInstalls', period)
  const found = new Map<string, CountedMoment[]>()
  const add = (of: OwnedWebsite, atMs: number, lengthMs: number, counts: Partial<AlertCounts>): void => {
    const own = found.get(ownerKey(of)) ?? []
    found.set(ownerKey(of), own)
    own.push({ atMs, lengthMs, counts: { ...NO_ALERT_COUNTS, ...counts } })
  }
  for (const row of hours) {
    const { began: visits, copies, delivered, failed } = row
    add(row, row.at_ms, HOUR_MS, { visits, copies, delivered, failed })
  }
  for (const row of quarters) {
    const { installs, matched, unmatched } = row
    add(row, row.at_ms, QUARTER_MS, { installs, matched, unmatched })
  }
  return found
}

/** Those of which each hour of that time is counted as it is stored. Rejects like `Facts`. */
export async function countedWebsites<W extends OwnedWebsite>(
  facts: FactsReader,
  websites: readonly W[],
  { at, until }: TimeStep,
): Promise<readonly W[]> {
  const open = await facts.run('websitesToCount', { ...ownersOf(websites), since_ms: at - HOUR_MS, until_ms: until })
  const keys = new Set(open.map(ownerKey))
  return websites.filter((website) => !keys.has(ownerKey(website)))
}
