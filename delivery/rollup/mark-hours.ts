/** Marks hours to be counted again, after an erasure or for `whencectl rebuild-rollups`. */

import type { OwnedWebsite } from '../../domain/model.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'

export interface MarkRequest {
  /** Must never be reused. */
  readonly writer: string
  readonly sinceMs: number
  readonly untilMs: number
  readonly nowMs: number
}

const MAX_HOURS = 10_000_000

/** Marks every hour of the period that has facts or figures; resolves with their number. Rejects like `Facts`. */
export async function markHours(facts: FactsReader & FactsWriter, request: MarkRequest): Promise<number> {
  const { writer, sinceMs, untilMs, nowMs } = request
  const hours = await facts.run('hoursWithFacts', { since_ms: sinceMs, until_ms: untilMs, limit: MAX_HOURS })
  const rows = hours.map(({ hour_ms: hour, ...owned }) => ({ ...owned, hour, writer, made_at: nowMs, row_version: 1 }))
  await facts.insert('hour_marks', rows)
  return rows.length
}

interface HoursRequest extends OwnedWebsite {
  /** Starts of hours, as Unix ms. */
  readonly hours: readonly number[]
  /** Must never be reused. */
  readonly writer: string
  readonly nowMs: number
}

/** Marks these hours of one website of an organisation, whether they have facts or not. Rejects like `Facts`. */
export async function markTheseHours(facts: FactsWriter, request: HoursRequest): Promise<void> {
  const { organization, website, hours, writer, nowMs } = request
  const rows = hours.map((hour) => ({ organization, website, hour, writer, made_at: nowMs, row_version: 1 }))
  await facts.insert('hour_marks', rows)
}
