/** Reads what a stream still has to send: the open range of each lane, and where the records of the next batch are. */

import { FACTS_WRITER_GROUP } from '../../domain/collection/facts-lag.ts'
import { partitionName } from '../../domain/streams/lane.ts'
import type { BacklogRecord, OpenRecord, Watermark, Watermarks } from '../../domain/streams/plan.ts'
import type { Border, DoneOffsets, StreamForm } from '../../domain/streams/progress.ts'
import type { LogProgress } from '../../ports/event-log/event-log.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import {
  LANE_WINDOW,
  type DoneParams,
  type OpenLaneRow,
  type OpenRow,
  type StreamFilters,
  type BorderParams,
} from '../../ports/facts/streams.ts'

/** Topics whose records Logs show. */
const LOG_TOPICS = ['visits', 'activations', 'handoffs', 'installs', 'requests', 'deliveries'] as const
const WATERMARKS_FOR_MS = 1_000

/** How much of the log is in the facts; read from the log at most once a second for all streams of a process. Rejects like the log. */
export function createWatermarks(eventLog: LogProgress, nowMs: () => number): () => Promise<Watermarks> {
  let known: { readonly watermarks: Promise<Watermarks>; readonly atMs: number } | null = null
  return async () => {
    const now = nowMs()
    if (known === null || now - known.atMs >= WATERMARKS_FOR_MS)
      known = { watermarks: readWatermarks(eventLog), atMs: now }
    const current = known
    try {
      return await current.watermarks
    } catch (error) {
      if (known === current) known = null
      throw error
    }
  }
}

async function readWatermarks(eventLog: LogProgress): Promise<Watermarks> {
  const watermarks = new Map<string, Watermark>()
  for (const topic of LOG_TOPICS) {
    const { done, ends } = await eventLog.progress(topic, FACTS_WRITER_GROUP)
    for (const [partition, end] of ends.entries()) {
      // Of a partition that is not known, nothing is read.
      if (end === null) continue
      watermarks.set(partitionName({ topic, partition }), { committed: done[partition] ?? 0, end })
    }
  }
  return watermarks
}

/** What a stream has still to send. Records that its form leaves out are open too, but not counted. */
export function openLanes(
  facts: FactsReader,
  organization: string,
  { done, form }: { readonly done: DoneOffsets; readonly form: StreamForm },
): Promise<readonly OpenLaneRow[]> {
  return facts.run('openLanes', { organization, ...doneParams(done), ...filterParams(form) })
}

/** Query parameters from the offsets that are done. */
export function doneParams(done: DoneOffsets): DoneParams {
  const lanes = Object.entries(done).filter(([, offset]) => offset >= 0)
  const params: { lanes: number; [lane: `lane_${number}`]: string; [done: `done_${number}`]: number } = {
    lanes: lanes.length,
  }
  lanes.forEach(([lane, offset], index) => {
    params[`lane_${index}`] = lane
    params[`done_${index}`] = offset
  })
  return params
}

/** Rows from the beginning of each open lane, without their texts, about as many as a batch holds. */
export async function readNext(
  facts: FactsReader,
  organization: string,
  { lanes, records }: { readonly lanes: readonly OpenLaneRow[]; readonly records: number },
): Promise<readonly OpenRecord[]> {
  const borders = lanes.map(({ lane, first, last }) => ({
    lane,
    after: first - 1,
    through: Math.min(last, first - 1 + LANE_WINDOW),
  }))
  const perLane = Math.ceil((2 * records) / Math.max(1, lanes.length))
  if (borders.length === 0) return []
  const params = { organization, per_lane: perLane, ...borderParams(borders) }
  const rows = await facts.run('openBetween', params)
  return rows.map(openRecord)
}

/** Rows between borders, in the order of each lane. */
export async function readBetween(
  facts: FactsReader,
  organization: string,
  { borders, perLane }: { readonly borders: readonly Border[]; readonly perLane: number },
): Promise<readonly BacklogRecord[]> {
  if (borders.length === 0) return []
  const params = { organization, per_lane: perLane, ...borderParams(borders) }
  const rows = await facts.run('backlogBetween', params)
  return rows.map((row) => ({ ...openRecord(row), id: row.id }))
}

/** The number of a stream's records between borders. */
export async function countBetween(
  facts: FactsReader,
  organization: string,
  { borders, form }: { readonly borders: readonly Border[]; readonly form: StreamForm },
): Promise<{ readonly records: number; readonly fromMs: number; readonly toMs: number }> {
  const params = { organization, ...filterParams(form), ...borderParams(borders) }
  const [row] = await facts.run('recordsBetween', params)
  return { records: row?.records ?? 0, fromMs: row?.from_ms ?? 0, toMs: row?.to_ms ?? 0 }
}

/** Query parameters from what a stream lets pass. */
export function filterParams({ websites, kinds, minStatus }: StreamForm): StreamFilters {
  return {
    ...(websites.length === 0 ? {} : { websites }),
    ...(kinds.length === 0 ? {} : { kinds }),
    ...(minStatus === 0 ? {} : { min_status: minStatus }),
  }
}

/** Query parameters from borders. */
export function borderParams(borders: readonly Border[]): BorderParams {
  const params: {
    lanes: number
    [lane: `lane_${number}`]: string
    [offset: `after_${number}` | `through_${number}`]: number
  } = { lanes: borders.length }
  borders.forEach(({ lane, after, through }, index) => {
    params[`lane_${index}`] = lane
    params[`after_${index}`] = after
    params[`through_${index}`] = through
  })
  return params
}

function openRecord({ log_offset: offset, at_ms: atMs, appended_at_ms: appendedAtMs, ...row }: OpenRow): OpenRecord {
  const { lane, website, kind, status, bytes } = row
  return { lane, offset, atMs, appendedAtMs, website, kind, status, bytes }
}
