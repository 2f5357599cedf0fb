/** Marks hours to be counted again, after something was erased or for `whence rebuild-rollups`. */

import type { Facts } from '../../ports/facts/facts.ts'

export interface MarkRequest {
  /** Unique for ever. */
  readonly writer: string
  readonly sinceMs: number
  readonly untilMs: number
  readonly nowMs: number
}

const MAX_HOURS = 10_000_000

/** Marks every hour of the period that has facts or figures; resolves to how many. Rejects like `Facts`. */
export async function markHours(facts: Pick<Facts, 'run' | 'insert'>, request: MarkRequest): Promise<number> {
  const { writer, sinceMs, untilMs, nowMs } = request
  const hours = await facts.run('hoursWithFacts', { since_ms: sinceMs, until_ms: untilMs, limit: MAX_HOURS })
  const rows = hours.map(({ website, hour_ms: hour }) => ({ website, hour, writer, made_at: nowMs, row_version: 1 }))
  await facts.insert('hour_marks', rows)
  return rows.length
}
