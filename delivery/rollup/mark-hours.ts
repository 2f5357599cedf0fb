/** Marks hours to be counted again, after an erasure or for `whence rebuild-rollups`. */

import type { Facts } from '../../ports/facts/facts.ts'

export interface MarkRequest {
  /** Must never be reused. */
  readonly writer: string
  readonly sinceMs: number
  readonly untilMs: number
  readonly nowMs: number
}

const MAX_HOURS = 10_000_000

/** Marks every hour of the period that has facts or figures; resolves with their number. Rejects like `Facts`. */
export async function markHours(facts: Pick<Facts, 'run' | 'insert'>, request: MarkRequest): Promise<number> {
  const { writer, sinceMs, untilMs, nowMs } = request
  const hours = await facts.run('hoursWithFacts', { since_ms: sinceMs, until_ms: untilMs, limit: MAX_HOURS })
  const rows = hours.map(({ website, hour_ms: hour }) => ({ website, hour, writer, made_at: nowMs, row_version: 1 }))
  await facts.insert('hour_marks', rows)
  return rows.length
}

interface HoursRequest {
  readonly website: string
  /** Starts of hours, as Unix ms. */
  readonly hours: readonly number[]
  /** Must never be reused. */
  readonly writer: string
  readonly nowMs: number
}

/** Marks these hours of one website, whether they have facts or not. Rejects like `Facts`. */
export async function markTheseHours(facts: Pick<Facts, 'insert'>, request: HoursRequest): Promise<void> {
  const { website, hours, writer, nowMs } = request
  const rows = hours.map((hour) => ({ website, hour, writer, made_at: nowMs, row_version: 1 }))
  await facts.insert('hour_marks', rows)
}
