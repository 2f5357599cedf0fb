/** Reads and writes the progress of a stream. Only the owner of its lease writes; the later owner wins. */

import type { StreamState } from '../../domain/streams/pace.ts'
import { readProgress, writtenProgress, type StreamProgress } from '../../domain/streams/progress.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'

interface StreamKey {
  readonly organization: string
  /** Namespace and name of the LogStream. */
  readonly stream: string
}

/** Further values, for display. */
export interface StreamStanding {
  readonly state: StreamState
  readonly behind: number
  readonly oldestMs: number | null
}

export interface ProgressStore {
  /** Null for a stream that no process has served yet, or not for a month. Rejects like `Facts`. */
  readonly load: () => Promise<StreamProgress | null>
  /** Durable when it resolves. */
  readonly save: (progress: StreamProgress, standing: StreamStanding) => Promise<void>
}

interface StoreParts {
  readonly facts: FactsReader & FactsWriter
  readonly key: StreamKey
  /** When the lease was acquired. */
  readonly leasedAtMs: number
  readonly nowMs: () => number
}

/** Versions for each ms: only after a million writes would a lease outrank one that is acquired a second later. */
const COUNTS_PER_MS = 1_000

export function createProgressStore({ facts, key, leasedAtMs, nowMs }: StoreParts): ProgressStore {
  let version = leasedAtMs * COUNTS_PER_MS
  return {
    async load() {
      const [row] = await facts.run('streamProgress', { ...key })
      if (row === undefined) return null
      version = Math.max(version, row.version)
      return readProgress(row.progress)
    },
    async save(progress, { state, behind, oldestMs }) {
      version += 1
      const row: RowOf<'stream_progress'> = {
        ...key,
        seen_at: nowMs(),
        state,
        behind,
        oldest_at: oldestMs,
        delivered_at: progress.deliveredAtMs,
        failing_since: progress.failingSinceMs,
        last_error: progress.lastError,
        delivered: progress.delivered,
        dropped: progress.dropped,
        progress: writtenProgress(progress),
        row_version: version,
      }
      await facts.insert('stream_progress', [row])
    },
  }
}
