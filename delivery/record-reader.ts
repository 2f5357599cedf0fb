/** Reads entries for a role: one that cannot be read is counted and told, and never ends a batch. */

import { Counter, type Registry } from 'prom-client'

import { readRecord, type ReadableKind, type ReadableRecords } from '../domain/read-record.ts'
import type { Topic } from '../domain/records.ts'
import type { StoredEntry } from '../ports/event-log/event-log.ts'
import type { Logger } from '../runtime/logger.ts'

export interface RecordReaderDeps {
  readonly logger: Pick<Logger, 'error'>
  readonly registry?: Registry
}

/** Null for an entry that cannot be read: it would come again for ever. The facts-writer keeps those of its topics apart. */
export type ReadEntry = <K extends ReadableKind>(
  kind: K,
  entry: Pick<StoredEntry, 'key' | 'value' | 'offset'>,
  topic: Topic,
) => ReadableRecords[K] | null

/** `role` says in the metrics who could not read it. */
export function createRecordReader({ logger, registry }: RecordReaderDeps, role: string): ReadEntry {
  const count = unreadableCounter(registry)
  const told = new Set<Topic>()
  // Only a start that reads back meets these: consumers stop in front of them. There may be thousands.
  const tellNewer = (topic: Topic, version: number): void => {
    if (told.has(topic)) return
    told.add(topic)
    logger.error({ role, topic, version }, 'entries of a later release were not read')
  }
  return (kind, { key, value, offset }, topic) => {
    const reading = readRecord(kind, value)
    if (reading.kind === 'record') return reading.record
    if (reading.kind === 'newer') tellNewer(topic, reading.version)
    else {
      count?.inc({ role, topic })
      logger.error({ role, topic, offset, key, why: reading.why }, 'entry cannot be read')
    }
    return null
  }
}

function unreadableCounter(registry: Registry | undefined): Counter<'role' | 'topic'> | null {
  const help = 'Entries of the event log that a role could not read and passed over.'
  return counterIn(registry, { name: 'whence_unreadable_entries_total', help, labelNames: ['role', 'topic'] })
}

/** Of rows of the facts whose JSON is damaged. */
export function unreadableRowCounter(registry: Registry | undefined): Counter<'table'> | null {
  const help = 'Rows of the facts that could not be read and were taken for missing.'
  return counterIn(registry, { name: 'whence_unreadable_rows_total', help, labelNames: ['table'] })
}

/** One for all roles of a process. */
function counterIn<L extends string>(
  registry: Registry | undefined,
  { name, help, labelNames }: { readonly name: string; readonly help: string; readonly labelNames: readonly L[] },
): Counter<L> | null {
  if (registry === undefined) return null
  const known = registry.getSingleMetric(name) as Counter<L> | undefined
  return known ?? new Counter({ name, help, labelNames, registers: [registry] })
}
