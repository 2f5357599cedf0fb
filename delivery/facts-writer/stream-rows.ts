/**
 * Adds the rows that log streams have to send to a batch: one for each request and each attempt of an organisation that has
 * a stream. They are made from the rows of Logs, so that a stream and Logs cannot disagree.
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
import { streamRecord } from '../../domain/streams/record.ts'
import type { Batch, EventLog, StoredEntry } from '../../ports/event-log/event-log.ts'
import type { FactTable, RowOf } from '../../ports/facts/columns.ts'
import type { FactRow, Facts } from '../../ports/facts/facts.ts'
import type { Logger } from '../../runtime/logger.ts'

/** Collects the rows of one batch. */
interface StreamRows {
  note(table: FactTable, row: FactRow, entry: StoredEntry): void
  rows(): readonly RowOf<'stream_backlog'>[]
}

export interface StreamBacklog {
  /** Rejects like `Facts`: unless it is known who has a stream, no batch may be written. */
  readonly collect: (batch: Batch) => Promise<StreamRows>
}

interface BacklogParts {
  readonly facts: Pick<Facts, 'run'>
  readonly eventLog: Pick<EventLog, 'progress'>
  readonly logger: Pick<Logger, 'error'>
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
    const [first, last] = [batch.entries[0], batch.entries.at(-1)]
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
  const collected: RowOf<'stream_backlog'>[] = []
  return {
    note(table, row, entry) {
      const sent = organizations.has(String(row['organization'])) ? streamRecord(table, row) : null
      if (sent === null) return
      const { organization, id, atMs, website, kind, status, text } = sent
      collected.push({
        ...{ organization, lane, log_offset: entry.offset, id, at: atMs, appended_at: entry.appendedAtMs },
        ...{ website, kind, status, record: text, row_version: 0 },
      })
    },
    rows: () => collected,
  }
}
