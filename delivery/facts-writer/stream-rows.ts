/**
 * Adds to a batch where the records are that log streams have to send: each request and each attempt of an organisation that
 * has a stream. The records themselves are the rows of Logs, so that a stream and Logs cannot disagree.
 */

import { DAY_MS } from '../../domain/durations.ts'
import { FACTS_WRITER_GROUP } from '../../domain/collection/facts-lag.ts'
import { LIMITS } from '../../domain/limits.ts'
import {
  isOfNewLog,
  laneName,
  partitionName,
  readLane,
  type LogLane,
  type LanePoint,
} from '../../domain/streams/lane.ts'
import { streamPointer } from '../../domain/streams/record.ts'
import type { Batch, StoredEntry, LogProgress } from '../../ports/event-log/event-log.ts'
import type { FactTable, RowOf } from '../../ports/facts/columns.ts'
import type { FactRow, FactsReader } from '../../ports/facts/facts.ts'
import type { Logger } from '../../runtime/logger.ts'

/** Collects the rows of one batch. */
interface StreamRows {
  note(table: FactTable, row: FactRow, entry: StoredEntry): void
  rows(): readonly RowOf<'stream_pointers'>[]
}

export interface StreamBacklog {
  /** Rejects like `Facts`: unless it is known who has a stream, no batch may be written. */
  readonly collect: (batch: Batch) => Promise<StreamRows>
}

interface BacklogParts {
  readonly facts: FactsReader
  readonly eventLog: LogProgress
  readonly logger: Logger
  readonly nowMs: () => number
}

/** A new stream begins at most this late. */
const ORGANIZATIONS_EVERY_MS = 10_000
const NOTHING: StreamRows = { note: () => undefined, rows: () => [] }

export function createStreamBacklog(parts: BacklogParts): StreamBacklog {
  const organizationsOf = rememberOrganizations(parts)
  const lanes = new Lanes(parts)
  return {
    async collect(batch) {
      const organizations = await organizationsOf()
      if (organizations.size === 0) return NOTHING
      const lane = await lanes.of(batch, [...organizations])
      return rowsOfBatch(organizations, lane)
    },
  }
}

function rememberOrganizations({ facts, nowMs }: BacklogParts): () => Promise<ReadonlySet<string>> {
  let known: { readonly organizations: ReadonlySet<string>; readonly atMs: number } | null = null
  return async () => {
    const now = nowMs()
    if (known !== null && now - known.atMs < ORGANIZATIONS_EVERY_MS) return known.organizations
    const rows = await facts.run('streamingOrganizations', { since_ms: now - LIMITS.logStreamBacklogDays * DAY_MS })
    known = { organizations: new Set(rows.map(({ organization }) => organization)), atMs: now }
    return known.organizations
  }
}

interface KnownLane {
  readonly lane: LogLane
  readonly newest: LanePoint
}

/** The lane of each partition that this process reads. */
class Lanes {
  readonly #parts: BacklogParts
  /** By partition. */
  #known: Map<string, KnownLane> | null = null

  constructor(parts: BacklogParts) {
    this.#parts = parts
  }

  async of(batch: Batch, organizations: readonly string[]): Promise<string> {
    this.#known ??= await this.#read(organizations)
    const key = partitionName(batch)
    const before = this.#known.get(key)
    const first = batch.entries[0]
    const last = batch.entries.at(-1)
    if (first === undefined || last === undefined) throw new Error('a batch without entries')
    const isNew = await this.#isNew(batch, before, first)
    const lane = before === undefined || isNew ? this.#begin(batch, before) : before.lane
    const isFurther = isNew || before === undefined || last.offset > before.newest.offset
    this.#known.set(key, { lane, newest: isFurther ? last : before.newest })
    return laneName(lane)
  }

  /** The end of the log is read only if a batch's offsets go back. */
  async #isNew(batch: Batch, before: KnownLane | undefined, first: StoredEntry): Promise<boolean> {
    if (before === undefined || first.offset > before.newest.offset) return false
    const { ends } = await this.#parts.eventLog.progress(batch.topic, FACTS_WRITER_GROUP)
    return isOfNewLog(before.newest, first, ends[batch.partition] ?? null)
  }

  #begin({ topic, partition }: Batch, before: KnownLane | undefined): LogLane {
    const { nowMs, logger } = this.#parts
    const begunAtMs = Math.max(nowMs(), (before?.lane.begunAtMs ?? 0) + 1)
    if (before === undefined) return { topic, partition, begunAtMs, cause: 'first' }
    logger.error({ topic, partition }, 'the log has begun again: streams go on in a new lane')
    return { topic, partition, begunAtMs, cause: 'renewed' }
  }

  async #read(organizations: readonly string[]): Promise<Map<string, KnownLane>> {
    const known = new Map<string, KnownLane>()
    for (const row of await this.#parts.facts.run('newestOfLanes', { organizations })) {
      const lane = readLane(row.lane)
      if (lane === null) continue
      const key = partitionName(lane)
      if ((known.get(key)?.lane.begunAtMs ?? -1) > lane.begunAtMs) continue
      known.set(key, { lane, newest: { offset: row.newest, appendedAtMs: row.appended_at_ms } })
    }
    return known
  }
}

function rowsOfBatch(organizations: ReadonlySet<string>, lane: string): StreamRows {
  const all: FillingRow[] = []
  const open = new Map<string, FillingRow>()
  let latest: FillingRow | undefined
  return {
    note(table, row, entry) {
      if (!organizations.has(String(row['organization']))) return
      const pointer = streamPointer(table, row, utf8Bytes)
      if (pointer === null) return
      // Most records are like the one before.
      if (latest === undefined || !isAlike(latest.alike, pointer)) latest = open.get(alikeKey(pointer))
      if (latest === undefined || latest.offsets.length === POINTERS_PER_ROW) {
        latest = newRow(pointer, entry)
        open.set(alikeKey(pointer), latest)
        all.push(latest)
      }
      addPointer(latest, pointer, entry)
    },
    rows: () => all.map((row) => pointerRow(row, lane)),
  }
}

/** Bounds what is read to find one record, and what one row takes in memory. */
const POINTERS_PER_ROW = 500

/** What the records of one row have in common. */
type Alike = { readonly website: string; readonly organization: string; readonly status: number; readonly kind: string }

/** A row while it is being filled. */
interface FillingRow {
  readonly alike: Alike
  lastAppendedAtMs: number
  readonly offsets: number[]
  readonly ids: string[]
  readonly times: number[]
  readonly sizes: number[]
}

const utf8Bytes = (text: string): number => Buffer.byteLength(text)

function isAlike(a: Alike, b: Alike): boolean {
  return a.website === b.website && a.kind === b.kind && a.status === b.status && a.organization === b.organization
}

function alikeKey({ organization, website, kind, status }: Alike): string {
  return `${organization} ${website} ${kind} ${status}`
}

function newRow({ organization, website, kind, status }: Alike, { appendedAtMs }: StoredEntry): FillingRow {
  const alike = { organization, website, kind, status }
  return { alike, lastAppendedAtMs: appendedAtMs, offsets: [], ids: [], times: [], sizes: [] }
}

interface PointedRecord {
  readonly id: string
  readonly atMs: number
  readonly bytes: number
}

function addPointer(row: FillingRow, { id, atMs, bytes }: PointedRecord, { offset, appendedAtMs }: StoredEntry): void {
  row.lastAppendedAtMs = appendedAtMs
  row.offsets.push(offset)
  row.ids.push(id)
  row.times.push(atMs)
  row.sizes.push(bytes)
}

/** Offsets and times become small numbers, which are cheaper to write and to read. */
function pointerRow({ alike, lastAppendedAtMs, offsets, ids, times, sizes }: FillingRow, lane: string) {
  const first = offsets[0] ?? 0
  const last = offsets.at(-1) ?? 0
  const oldest = times.reduce((least, time) => (time < least ? time : least), Infinity)
  return {
    organization: alike.organization,
    lane,
    last_offset: last,
    first_offset: first,
    appended_at: lastAppendedAtMs,
    website: alike.website,
    kind: alike.kind,
    status: alike.status,
    ids: ids.join(','),
    offsets: offsets.map((offset) => offset - first),
    oldest_at: oldest,
    times: times.map((time) => time - oldest),
    sizes,
    row_version: 0,
  } satisfies RowOf<'stream_pointers'>
}
