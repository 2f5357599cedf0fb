/** Drops records of a stream that are too many, too old, or skipped by a person; and goes back if a person says so. */

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import { bordersOfDrop, type Watermarks } from '../../domain/streams/plan.ts'
import {
  doneWithPlan,
  passedOver,
  planGivenUp,
  planTakenBack,
  sentAgain,
  type Gap,
  type StreamForm,
  type StreamProgress,
} from '../../domain/streams/progress.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { OpenLaneRow } from '../../ports/facts/streams.ts'
import { countBetween, doneParams, filterParams } from './backlog-reader.ts'

export interface TrimParts {
  readonly facts: Pick<Facts, 'run'>
  readonly organization: string
  readonly form: StreamForm
  readonly watermarks: Watermarks
  readonly nowMs: number
}

const BACKLOG_MS = LIMITS.logStreamBacklogDays * DAY_MS

/**
 * Drops what exceeds the longest backlog; the same state if nothing does. A batch with a record that is too old is planned anew: as it
 * is, it would need rows that are deleted soon. Rejects like `Facts`.
 */
export async function trimmed(
  parts: TrimParts,
  progress: StreamProgress,
  lanes: readonly OpenLaneRow[],
): Promise<StreamProgress> {
  const oldest = parts.nowMs - BACKLOG_MS
  const isPlanOld = progress.plan !== null && progress.plan.oldestMs < oldest
  const base = isPlanOld ? planTakenBack(progress) : progress
  const excess = lanes.reduce((sum, { records }) => sum + records, 0) - LIMITS.logStreamBacklogRecords
  const isOld = lanes.some(({ records, oldest_ms: atMs }) => records > 0 && atMs < oldest)
  if (excess <= 0 && !isPlanOld && !isOld) return base
  const cutoff = excess <= 0 ? oldest : Math.max(oldest, await cutoffOf(parts, base, excess))
  return droppedBefore(parts, base, { sinceMs: cutoff, reason: 'overflow' })
}

/** Skips everything that is complete by now. */
export function skippedToNow(parts: TrimParts, progress: StreamProgress): Promise<StreamProgress> {
  // Later than any record.
  const sinceMs = parts.nowMs + LIMITS.clockSkewMs * 2
  return droppedBefore(parts, planGivenUp(progress, 'skipped'), { sinceMs, reason: 'skipped' })
}

/** Sends again everything from this time on, as far as it is kept. */
export async function rewound(
  { facts, organization, form }: Pick<TrimParts, 'facts' | 'organization' | 'form'>,
  progress: StreamProgress,
  sinceMs: number,
): Promise<StreamProgress> {
  const params = { organization, since_ms: sinceMs, ...filterParams(form) }
  const lanes = await facts.run('keptSince', { ...params, ...doneParams({}) })
  const firsts = lanes.filter(({ kept }) => kept > 0).map(({ lane, kept_from: first }) => [lane, first] as const)
  return sentAgain(progress, Object.fromEntries(firsts))
}

async function cutoffOf(
  { facts, organization, form, nowMs }: TrimParts,
  progress: StreamProgress,
  excess: number,
): Promise<number> {
  const params = { organization, excess, ...filterParams(form) }
  const [row] = await facts.run('cutoffOfBacklog', { ...params, ...doneParams(doneWithPlan(progress)) })
  return row?.at_ms ?? nowMs
}

async function droppedBefore(
  parts: TrimParts,
  progress: StreamProgress,
  { sinceMs, reason }: { readonly sinceMs: number; readonly reason: Gap['reason'] },
): Promise<StreamProgress> {
  const { facts, organization, form, watermarks } = parts
  const done = doneWithPlan(progress)
  const params = { organization, since_ms: sinceMs, ...filterParams(form) }
  const rows = await facts.run('keptSince', { ...params, ...doneParams(done) })
  const lanes = rows.map(({ kept_from: keptFrom, ...row }) => ({ ...row, keptFrom }))
  const borders = bordersOfDrop(lanes, { done }, watermarks)
  const { records, fromMs, toMs } = await countBetween(facts, organization, { borders, form })
  if (records > 0) return passedOver(progress, borders, { reason, dropped: records, fromMs, toMs })
  return {
    ...progress,
    done: { ...progress.done, ...Object.fromEntries(borders.map((each) => [each.lane, each.through])) },
  }
}
