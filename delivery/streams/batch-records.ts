/**
 * Reads the records of a planned batch: the backlog says which they are and in which order, Logs hold what they say.
 *
 * A record whose row of Logs is missing was erased, or a replica does not show it yet: the caller waits before it decides.
 */

import { ATTEMPT_KIND } from '../../domain/model.ts'
import { isStreamed, sentRecord, type BacklogRecord } from '../../domain/streams/plan.ts'
import type { StreamPlan } from '../../domain/streams/progress.ts'
import { attemptText, requestText, type SentRecord } from '../../domain/streams/record.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import { borderParams, filterParams, readBetween } from './backlog-reader.ts'

interface BatchRecords {
  readonly records: readonly SentRecord[]
  /** How many of them say only that they cannot be read, because Logs do not hold them. */
  readonly missing: number
}

/** The records between the plan's borders that its form lets pass, in the order of each lane. Rejects like `Facts`. */
export async function readBatch(facts: FactsReader, organization: string, plan: StreamPlan): Promise<BatchRecords> {
  const rows = await readBetween(facts, organization, { borders: plan.borders, perLane: Math.max(1, planWidth(plan)) })
  const wanted = rows.filter((row) => isStreamed(row, plan.form))
  const lines = await linesOfLogs(facts, organization, { plan, wanted })
  const missing = wanted.filter((row) => !lines.has(lineKey(row))).length
  return { records: wanted.map((row) => sentRecord(row, lines.get(lineKey(row)))), missing }
}

type LinesByRecord = ReadonlyMap<string, string>

/** What Logs hold of these records, as it is sent. */
async function linesOfLogs(
  facts: FactsReader,
  organization: string,
  { plan, wanted }: { readonly plan: StreamPlan; readonly wanted: readonly BacklogRecord[] },
): Promise<LinesByRecord> {
  const { form } = plan
  const bodies = form.includeBodies ? { bodies: 1 } : {}
  const params = { organization, ...filterParams(form), ...borderParams(plan.borders), ...bodies }
  const lines = new Map<string, string>()
  if (wanted.some(({ kind }) => kind !== ATTEMPT_KIND))
    for (const row of await facts.run('requestsOfBatch', params))
      lines.set(lineKey(row), requestText(row, form.includeBodies))
  if (wanted.some(({ kind }) => kind === ATTEMPT_KIND))
    for (const row of await facts.run('attemptsOfBatch', params))
      lines.set(lineKey({ website: row.website, id: row.attempt_id }), attemptText(row, form.includeBodies))
  return lines
}

function lineKey({ website, id }: { readonly website: string; readonly id: string }): string {
  return `${website} ${id}`
}

/** Offsets that a plan spans: the most rows in any of its lanes. */
function planWidth({ borders }: StreamPlan): number {
  return borders.reduce((most, { after, through }) => Math.max(most, through - after), 0)
}
