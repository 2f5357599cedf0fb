/** Decides when a batch is planned, and how large it may be: webhooks get records at once, buckets get few large objects. */

import { SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { StreamPlan, StreamProgress } from '../../domain/streams/progress.ts'
import type { OpenLaneRow } from '../../ports/facts/streams.ts'
import type { StreamInForce } from './in-force.ts'

export function batchBounds({ target }: StreamInForce): { readonly records: number; readonly bytes: number } {
  return target.kind === 's3'
    ? { records: LIMITS.streamObjectRecords, bytes: LIMITS.streamObjectBytes }
    : { records: LIMITS.streamBatchRecords, bytes: LIMITS.streamBatchBytes }
}

interface Open {
  readonly lanes: readonly OpenLaneRow[]
  readonly nowMs: number
}

/** Whether enough is open, or the last object was written long enough ago. */
export function isDue(inForce: StreamInForce, { deliveredAtMs }: StreamProgress, { lanes, nowMs }: Open): boolean {
  const { target, stream } = inForce
  if (target.kind === 'webhook') return true
  const records = lanes.reduce((sum, lane) => sum + lane.records, 0)
  return records >= LIMITS.streamObjectRecords || nowMs - (deliveredAtMs ?? 0) >= stream.flushSeconds * SECOND_MS
}

/** Whether more was open than this batch takes. */
export function leavesOpen({ borders }: StreamPlan, lanes: readonly OpenLaneRow[]): boolean {
  const through = new Map(borders.map((border) => [border.lane, border.through]))
  return lanes.some(({ lane, last }) => last > (through.get(lane) ?? -1))
}
