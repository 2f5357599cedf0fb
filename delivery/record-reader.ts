/** Reads entries for a role: an unreadable one is counted and logged, and never ends a batch. */

import { Counter, type Registry } from 'prom-client'

import { readRecord, type ReadableKind, type ReadableRecords } from '../domain/read-record.ts'
import type { Topic } from '../domain/records.ts'
import type { Telemetry } from '../runtime/metrics.ts'

/**
 * Null for an unreadable entry, which would otherwise be redelivered for ever. The facts-writer keeps those of its
 * topics.
 */
export type ReadEntry = <K extends ReadableKind>(
  kind: K,
  entry: { readonly value: string; readonly key: string; readonly offset: number },
  topic: Topic,
) => ReadableRecords[K] | null

/** `role` names the reader in the metrics. */
export function createRecordReader({ logger, registry }: Telemetry, role: string): ReadEntry {
  const count = unreadableCounter(registry)
  const told = new Set<Topic>()
  // Only a start that reads back finds these: consumers stop before them. There may be thousands.
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
  const help = 'Entries of the event log that a role could not read and skipped.'
  return counterIn(registry, { name: 'whence_unreadable_entries_total', help, labelNames: ['role', 'topic'] })
}

/** For rows of the facts whose JSON is damaged. */
export function unreadableRowCounter(registry: Registry | undefined): Counter<'table'> | null {
  const help = 'Rows of the facts that could not be read and count as missing.'
  return counterIn(registry, { name: 'whence_unreadable_rows_total', help, labelNames: ['table'] })
}

/** One for all roles of a process. */
function counterIn<L extends string>(
  registry: Registry | undefined,
  { name, help, labelNames }: { readonly name: string; readonly help: string; readonly labelNames: readonly L[] },
): Counter<L> | null {
  if (registry === undefined) return null
  const known = registry.getSingleMetric(name)
  return known instanceof Counter ? known : new Counter({ name, help, labelNames, registers: [registry] })
}
