/** Drops records of a stream that are too many, too old, or skipped by a person; and goes back if a person says so. */

import { DAY_MS, HOUR_MS, SECOND_MS } from '../../domain/durations.ts'
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
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { OpenLaneRow, OpenSpanRow } from '../../ports/facts/streams.ts'
import { countBetween, doneParams, filterParams } from './backlog-reader.ts'

export interface TrimParts {
  readonly facts: FactsReader
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
  const sinceMs = Math.min(oldestOpenMs(lanes), progress.plan?.oldestMs ?? parts.nowMs)
  const cutoff = excess <= 0 ? oldest : Math.max(oldest, await cutoffOf(parts, base, { excess, sinceMs }))
  return droppedBefore(parts, base, { sinceMs: cutoff, reason: 'overflow' })
}

/** The time of the oldest record that the filter lets pass. */
function oldestOpenMs(lanes: readonly OpenLaneRow[]): number {
  return Math.min(...lanes.filter(({ records }) => records > 0).map(({ oldest_ms: atMs }) => atMs))
}

/** Skips everything that is complete by now. */
export function skippedToNow(parts: TrimParts, progress: StreamProgress): Promise<StreamProgress> {
  // Later than any record.
  const sinceMs = parts.nowMs + LIMITS.clockSkewMs * 2
  return droppedBefore(parts, planGivenUp(progress, 'skipped'), { sinceMs, reason: 'skipped' })
}

/** Sends again everything from this time on, as far as it is kept. */
export async function rewound(
  { facts, organization, form }: TrimParts,
  progress: StreamProgress,
  sinceMs: number,
): Promise<StreamProgress> {
  const params = { organization, since_ms: sinceMs, ...filterParams(form) }
  const lanes = await facts.run('keptSince', { ...params, ...doneParams({}) })
  const firsts = lanes.filter(({ kept }) => kept > 0).map(({ lane, kept_from: first }) => [lane, first] as const)
  return sentAgain(progress, Object.fromEntries(firsts))
}

/**
 * The time of the oldest record that is kept if the `excess` oldest are dropped; now if that would be all. Looks at hours first, then at
 * seconds of the hour that it is in, then at milliseconds of the second: to sort a million records takes too much memory.
 */
async function cutoffOf(
  { facts, organization, form, nowMs }: TrimParts,
  progress: StreamProgress,
  { excess, sinceMs }: { readonly excess: number; readonly sinceMs: number },
): Promise<number> {
  const params = { organization, ...filterParams(form), ...doneParams(doneWithPlan(progress)) }
  let found = { fromMs: sinceMs, untilMs: nowMs + LIMITS.clockSkewMs * 2, left: excess }
  for (const stepMs of [HOUR_MS, SECOND_MS, 1]) {
    const rows = await facts.run('openByTime', {
      ...params,
      from_ms: found.fromMs,
      until_ms: found.untilMs,
      step_ms: stepMs,
    })
    const span = spanOfRecord(rows, found.left)
    if (span === null) return nowMs
    found = { fromMs: span.atMs, untilMs: span.atMs + stepMs, left: span.left }
  }
  return found.fromMs
}

/** The span that holds the record after the `before` oldest ones, and how many of these lie in it; null if there is no such record. */
function spanOfRecord(
  rows: readonly OpenSpanRow[],
  before: number,
): { readonly atMs: number; readonly left: number } | null {
  let left = before
  for (const { at_ms: atMs, records } of rows) {
    if (left < records) return { atMs, left }
    left -= records
  }
  return null
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
  const borders = bordersOfDrop(lanes, done, watermarks)
  const { records, fromMs, toMs } = await countBetween(facts, organization, { borders, form })
  if (records > 0) return passedOver(progress, borders, { reason, dropped: records, fromMs, toMs })
  return {
    ...progress,
    done: { ...progress.done, ...Object.fromEntries(borders.map((each) => [each.lane, each.through])) },
  }
}
