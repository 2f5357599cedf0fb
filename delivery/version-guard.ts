/**
 * Stops a reader before a record that a later release wrote: nothing is skipped or set aside.
 *
 * During a rolling upgrade, and on the way back, old and new processes share the log. A record that is too new holds
 * its partition until a process that can read it owns the partition; all other partitions continue. The hold is
 * counted, and logged once.
 */

import { Gauge, type Registry } from 'prom-client'

import { newerVersionOf } from '../domain/read-record.ts'
import type { Topic } from '../domain/records.ts'
import type { Batch, BatchHandler, BatchOutcome, EventLog, LogConsumers } from '../ports/event-log/event-log.ts'
import type { Telemetry } from '../runtime/metrics.ts'

export interface VersionGuardDeps {
  readonly eventLog: LogConsumers
  readonly telemetry: Telemetry
  readonly nowMs: () => number
}

/**
 * How long a partition is held before it is checked again: only another process can read its next record.
 * @internal
 */
export const HOLD_MS = 10_000

/** Like `EventLog.consume`, for a handler that reads records. */
export function consumeReadable(deps: VersionGuardDeps): EventLog['consume'] {
  return (topic, group, handler, options) => {
    const holds = holdsOf(deps, group)
    return deps.eventLog.consume(topic, group, guardedHandler(handler, { holds, nowMs: deps.nowMs }), options)
  }
}

interface PartitionGuard {
  readonly holds: Holds
  readonly nowMs: () => number
}

function guardedHandler(handler: BatchHandler, { holds, nowMs }: PartitionGuard): BatchHandler {
  return async (batch): Promise<BatchOutcome | void> => {
    const end = batch.entries.findIndex(({ value }) => newerVersionOf(value) !== null)
    if (end === 0) {
      holds.held(batch)
      return { done: 0, resumeAtMs: nowMs() + HOLD_MS }
    }
    holds.released(batch)
    if (end === -1) return handler(batch)
    return (await handler({ ...batch, entries: batch.entries.slice(0, end) })) ?? { done: end }
  }
}

interface Holds {
  held(batch: Batch): void
  released(batch: Batch): void
}

function holdsOf({ telemetry, nowMs }: VersionGuardDeps, group: string): Holds {
  const { logger, registry } = telemetry
  const gauge = holdsGauge(registry, nowMs)
  const told = new Map<string, number>()
  const placeOf = ({ topic, partition }: Batch): string => `${topic}/${partition}`
  return {
    held(batch) {
      const [first] = batch.entries
      if (first === undefined) return
      const { topic, partition } = batch
      gauge?.held({ topic, role: group, partition })
      if (told.get(placeOf(batch)) === first.offset) return
      told.set(placeOf(batch), first.offset)
      const version = newerVersionOf(first.value)
      logger.error(
        { topic, partition, role: group, offset: first.offset, version },
        'held by a record of a later release',
      )
    },
    released(batch) {
      told.delete(placeOf(batch))
      gauge?.released({ topic: batch.topic, role: group, partition: batch.partition })
    },
  }
}

const NAME = 'whence_held_partitions'
/** Another process may own the partition by now: a hold that was not confirmed for this long is over here. */
const FORGET_MS = 3 * HOLD_MS

interface HeldPartition {
  readonly topic: Topic
  readonly role: string
  readonly partition: number
}

interface HoldsGauge {
  held(place: HeldPartition): void
  released(place: HeldPartition): void
}

const gauges = new WeakMap<Registry, HoldsGauge>()

/** One for all roles of a process. */
function holdsGauge(registry: Registry | undefined, nowMs: () => number): HoldsGauge | null {
  if (registry === undefined) return null
  const gauge = gauges.get(registry) ?? newGauge(registry, nowMs)
  gauges.set(registry, gauge)
  return gauge
}

function newGauge(registry: Registry, nowMs: () => number): HoldsGauge {
  const heldAtMs = new Map<string, HeldPartition & { readonly atMs: number }>()
  const nameOf = ({ topic, role, partition }: HeldPartition): string => `${topic}/${role}/${partition}`
  new Gauge({
    name: NAME,
    help: 'Partitions that wait for a later release, which wrote records that this one cannot read.',
    labelNames: ['topic', 'role'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { topic, role, atMs } of heldAtMs.values()) {
        if (nowMs() - atMs < FORGET_MS) this.inc({ topic, role })
      }
    },
  })
  return {
    held: (place) => void heldAtMs.set(nameOf(place), { ...place, atMs: nowMs() }),
    released: (place) => void heldAtMs.delete(nameOf(place)),
  }
}
