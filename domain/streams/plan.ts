/** Decides what the next batch of a log stream contains, and which records of the backlog to drop. */

import { LIMITS } from '../limits.ts'
import type { Sha256Hex } from '../origin.ts'
import { partitionName, readLane } from './lane.ts'
import {
  advanced,
  newestLanes,
  type Border,
  type DoneOffsets,
  type Gap,
  type StreamForm,
  type StreamPlan,
  type StreamProgress,
} from './progress.ts'
import type { SentRecord } from './record.ts'

/** The parts of a backlog row that planning needs. */
export interface OpenRecord {
  readonly lane: string
  readonly offset: number
  readonly atMs: number
  /** When it was appended to the log. */
  readonly appendedAtMs: number
  readonly website: string
  readonly kind: string
  readonly status: number
  /** Of its text. */
  readonly bytes: number
}

/** A row of the backlog. */
export interface BacklogRecord extends OpenRecord {
  readonly id: string
}

/** How much of a partition is stored. */
export interface Watermark {
  /** Entries below this offset are stored completely. */
  readonly committed: number
  /** After the newest entry of the log. */
  readonly end: number
}

/** By partition (`partitionName`). */
export type Watermarks = ReadonlyMap<string, Watermark>

interface BatchBounds {
  readonly records: number
  /** Bytes of the texts, with bodies even if these are left out. */
  readonly bytes: number
}

interface BatchInput {
  /** The state without a plan. */
  readonly progress: StreamProgress
  /** In the order of offsets within each lane, without gaps from the first open offset. */
  readonly rows: readonly OpenRecord[]
  readonly watermarks: Watermarks
  readonly form: StreamForm
  readonly bounds: BatchBounds
  readonly nowMs: number
}

/** What the ID of a batch is made with. */
interface BatchNaming {
  /** Identifies the stream. */
  readonly stream: string
  readonly sha256Hex: Sha256Hex
}

const PLAN_ID_DIGITS = 16

/**
 * The state with a plan; without one, but advanced, if none of the rows is for this stream. The oldest records come first,
 * as far as the order within lanes allows.
 */
export function planBatch(input: BatchInput, naming: BatchNaming): StreamProgress {
  const { progress, form, nowMs } = input
  const { taken, bytes, borders, oldestMs } = takeOldest(input)
  const gaps = [...progress.gaps, ...renewals(borders, progress)]
  if (taken === 0 && gaps.length === 0) return { ...progress, done: advanced(progress.done, borders) }
  // A stream that was made again is a new one to its receiver, even if it begins with the same records.
  const stream = progress.uid === '' ? naming.stream : `${naming.stream} ${progress.uid}`
  // A batch that is planned anew in another form has other bytes.
  const about = JSON.stringify([stream, progress.resends, borders, gaps, form.compress, form.prefix])
  const id = naming.sha256Hex(about).slice(0, PLAN_ID_DIGITS)
  const plan: StreamPlan = {
    id,
    borders,
    gaps,
    records: taken,
    bytes,
    form,
    plannedAtMs: nowMs,
    oldestMs: Math.min(oldestMs, nowMs),
  }
  return { ...progress, plan, gaps: [] }
}

/** Whether the stream sends this record. */
export function isStreamed(
  { website, kind, status }: { readonly website: string; readonly status: number; readonly kind: string },
  form: StreamForm,
): boolean {
  if (form.websites.length > 0 && !form.websites.includes(website)) return false
  if (form.kinds.length > 0 && !form.kinds.includes(kind)) return false
  return status >= form.minStatus
}

/** `line`: what Logs hold of a record, as JSON. If they do not hold it any more, the stream says so and goes on. */
export function sentRecord(
  { id, atMs }: { readonly id: string; readonly atMs: number },
  line: string | undefined,
): SentRecord {
  return { atMs, text: line ?? JSON.stringify({ type: 'unreadable', id, at: atMs }) }
}

function takeOldest(input: BatchInput) {
  const { progress, form, bounds } = input
  const queues = openQueues(input)
  const throughs = new Map<string, number>()
  let taken = 0
  let bytes = 0
  let oldestMs = Infinity
  for (let queue = oldestOf(queues); queue !== null; queue = oldestOf(queues)) {
    const row = queue.rows[queue.at]
    if (row === undefined) break
    if (isStreamed(row, form)) {
      // A record that is larger than a batch is sent alone.
      if (taken > 0 && (taken >= bounds.records || bytes + row.bytes > bounds.bytes)) break
      bytes += row.bytes
      taken += 1
      oldestMs = Math.min(oldestMs, row.atMs)
    }
    throughs.set(row.lane, row.offset)
    queue.at += 1
  }
  const borders = [...throughs].map(([lane, through]): Border => ({ lane, after: progress.done[lane] ?? -1, through }))
  return { taken, borders: borders.toSorted((a, b) => (a.lane < b.lane ? -1 : 1)), bytes, oldestMs }
}

interface Queue {
  readonly rows: readonly OpenRecord[]
  at: number
}

function openQueues({ rows, watermarks, progress, nowMs }: BatchInput): readonly Queue[] {
  const newest = newestLanes([...Object.keys(progress.done), ...rows.map(({ lane }) => lane)])
  const queues = new Map<
    string,
    { readonly rows: OpenRecord[]; readonly ends: Readable; isOpen: boolean; at: number }
  >()
  for (const row of rows) {
    const queue = queues.get(row.lane) ?? {
      rows: [],
      ends: readableOf(row.lane, newest, watermarks),
      isOpen: true,
      at: 0,
    }
    queues.set(row.lane, queue)
    queue.isOpen &&= isReadable(row, queue.ends, nowMs)
    if (queue.isOpen) queue.rows.push(row)
  }
  return [...queues.values()]
}

/** A row beyond the log's end dates from before the log began again, unless it was appended only a moment ago. */
function isReadable(
  { offset, appendedAtMs }: { readonly offset: number; readonly appendedAtMs: number },
  { below, from }: Readable,
  nowMs: number,
): boolean {
  return offset < below || (offset >= from && appendedAtMs < nowMs - LIMITS.clockSkewMs)
}

function oldestOf(queues: readonly Queue[]): Queue | null {
  let oldest: Queue | null = null
  for (const queue of queues) {
    const next = queue.rows[queue.at]
    if (next !== undefined && next.atMs < (oldest?.rows[oldest.at]?.atMs ?? Infinity)) oldest = queue
  }
  return oldest
}

/** The complete offsets of a lane: those below the first number, and old ones from the second on. */
interface Readable {
  readonly below: number
  readonly from: number
}

/** A lane that has a successor is no longer written to. */
function readableOf(lane: string, newest: ReturnType<typeof newestLanes>, watermarks: Watermarks): Readable {
  const read = readLane(lane)
  if (read === null) return { below: 0, from: Infinity }
  if (newest.get(partitionName(read))?.name !== lane) return { below: Infinity, from: Infinity }
  const { committed, end } = watermarks.get(partitionName(read)) ?? { committed: 0, end: Infinity }
  // A consumer group whose position is beyond the log's end has not read the log since it began again.
  return { below: committed <= end ? committed : 0, from: end }
}

/** Lanes that begin with this batch because the log began again. */
function renewals(borders: readonly Border[], { done, registeredAtMs }: StreamProgress): readonly Gap[] {
  const renewed = borders.flatMap(({ lane }) => {
    const read = done[lane] === undefined ? readLane(lane) : null
    return read?.cause === 'renewed' && read.begunAtMs > registeredAtMs ? [read.begunAtMs] : []
  })
  const toMs = renewed.length === 0 ? null : Math.min(...renewed)
  return toMs === null ? [] : [{ reason: 'log_renewed', dropped: null, fromMs: null, toMs }]
}

/** The records of one lane that are young enough to keep. */
interface KeptLane {
  readonly lane: string
  readonly last: number
  readonly kept: number
  readonly keptFrom: number
}

/** The records to drop: in each lane, those before the first record that is kept. */
export function bordersOfDrop(
  lanes: readonly KeptLane[],
  done: DoneOffsets,
  watermarks: Watermarks,
): readonly Border[] {
  const newest = newestLanes([...Object.keys(done), ...lanes.map(({ lane }) => lane)])
  return lanes.flatMap(({ lane, last, kept, keptFrom }) => {
    const after = done[lane] ?? -1
    const { below, from } = readableOf(lane, newest, watermarks)
    const through = Math.min(kept === 0 ? last : keptFrom - 1, last >= from ? Infinity : below - 1)
    return through > after ? [{ lane, after, through }] : []
  })
}
