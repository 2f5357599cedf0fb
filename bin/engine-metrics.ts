/** Says in metrics how the engines of a process are; every value is read when it is asked for. */

import { Gauge, type Registry } from 'prom-client'
import type { EventLog } from '../ports/event-log/event-log.ts'

export interface ReportedEngines {
  readonly eventLog: Pick<EventLog, 'health' | 'spool'>
}

export function reportEngines(registry: Registry, { eventLog }: ReportedEngines): void {
  const gauge = gaugeIn(registry)
  if (eventLog.spool !== undefined) {
    const spool = (): ReturnType<NonNullable<EventLog['spool']>> | undefined => eventLog.spool?.()
    gauge('whence_spool_entries', 'Entries that wait to be brought to the event log.', () => spool()?.entries)
    gauge('whence_spool_bytes', 'Bytes of those entries.', () => spool()?.bytes)
    gauge('whence_spool_max_bytes', 'So many may wait; above it requests are refused.', () => spool()?.maxBytes)
    gauge('whence_spool_oldest_seconds', 'Age of the oldest of those entries; 0 where there is none.', () =>
      inSeconds(spool()?.oldestAgeMs ?? 0),
    )
  }
}

type MakeGauge = (name: string, help: string, value: () => number | undefined) => void

/** A value that is not known (yet) is left out. */
function gaugeIn(registry: Registry): MakeGauge {
  return (name, help, value) => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const now = value()
        if (now === undefined) this.reset()
        else this.set(now)
      },
    })
  }
}

function inSeconds(ms: number): number {
  return ms / 1_000
}
