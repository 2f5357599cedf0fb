/** Reports the state of a process's engines as metrics; every value is read at collection time. */

import { Gauge, type Registry } from 'prom-client'
import type { TopicLag, LogStatus } from '../../ports/event-log/event-log.ts'
import type { FactsStatus } from '../../ports/facts/facts.ts'
import type { StoreStatus } from '../../ports/hot-state/hot-state.ts'

interface ReportedEngines {
  readonly eventLog: LogStatus
  readonly hotState?: StoreStatus
  readonly facts?: FactsStatus
  /** Latest known lag of all groups. */
  readonly lag?: () => readonly TopicLag[]
}

/** Several parts of a process may call it for the same engines: existing metrics stay. */
export function reportEngines(registry: Registry, { eventLog, hotState, facts, lag }: ReportedEngines): void {
  const gauge = gaugeIn(registry)
  reportEventLog(registry, gauge, eventLog)
  reportSpool(gauge, eventLog)
  if (hotState !== undefined) {
    gauge('whence_hot_state_reachable', '1 if the hot state answers.', () => Number(hotState.health().isReachable))
    gauge('whence_hot_state_shared', '0 while this process counts and claims by itself.', () =>
      Number(hotState.health().isShared),
    )
  }
  if (facts !== undefined) {
    gauge('whence_facts_reachable', '1 if the last call to ClickHouse succeeded.', () =>
      Number(facts.health().isReachable),
    )
    gauge('whence_facts_last_insert_timestamp_seconds', 'When an insert was last acknowledged.', () =>
      inSeconds(facts.health().lastInsertAtMs),
    )
  }
  if (lag !== undefined) reportLag(registry, lag)
}

function reportEventLog(registry: Registry, gauge: MakeGauge, eventLog: LogStatus): void {
  gauge('whence_event_log_accepting', '1 if appends are accepted.', () => Number(eventLog.health().isAccepting))
  reportRefusal(registry, eventLog)
  gauge('whence_event_log_queued_bytes', 'Bytes that wait to become durable.', () => eventLog.health().queuedBytes)
  gauge(
    'whence_event_log_max_queued_bytes',
    'Append queue capacity in bytes; appends are refused above it.',
    () => eventLog.health().maxQueuedBytes,
  )
  gauge('whence_event_log_last_append_timestamp_seconds', 'When an append was last made durable.', () =>
    inSeconds(eventLog.health().lastAppendAtMs),
  )
  gauge('whence_event_log_last_fetch_timestamp_seconds', 'When a consumer last got an answer from the log.', () =>
    inSeconds(eventLog.health().lastFetchAtMs),
  )
}

/** Present only while appends are refused. */
function reportRefusal(registry: Registry, eventLog: LogStatus): void {
  const name = 'whence_event_log_refusing'
  if (registry.getSingleMetric(name) !== undefined) return
  new Gauge({
    name,
    help: 'Why appends are refused; present while they are.',
    labelNames: ['why'],
    registers: [registry],
    collect() {
      this.reset()
      const { refuses } = eventLog.health()
      if (refuses !== null) this.set({ why: refuses }, 1)
    },
  })
}

function reportSpool(gauge: MakeGauge, eventLog: LogStatus): void {
  if (eventLog.spool === undefined) return
  gauge('whence_spool_entries', 'Entries in the spool that wait for the event log.', () => eventLog.spool?.().entries)
  gauge('whence_spool_bytes', 'Bytes of those entries.', () => eventLog.spool?.().bytes)
  gauge(
    'whence_spool_max_bytes',
    'Spool capacity in bytes; requests are refused above it.',
    () => eventLog.spool?.().maxBytes,
  )
  gauge('whence_spool_oldest_seconds', 'Age of the oldest of those entries; 0 if there are none.', () =>
    inSeconds(eventLog.spool?.().oldestAgeMs ?? 0),
  )
}

function reportLag(registry: Registry, lag: () => readonly TopicLag[]): void {
  const name = 'whence_event_log_lag_entries'
  if (registry.getSingleMetric(name) !== undefined) return
  new Gauge({
    name,
    help: 'Entries of a topic that a role has not done.',
    labelNames: ['topic', 'role'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { topic, group, entries } of lag()) this.set({ topic, role: group }, entries)
    },
  })
}

type MakeGauge = (name: string, help: string, value: () => number | undefined) => void

/** Unknown values are left out. */
function gaugeIn(registry: Registry): MakeGauge {
  return (name, help, value) => {
    if (registry.getSingleMetric(name) !== undefined) return
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const now = value()
        if (now === undefined) this.remove()
        else this.set(now)
      },
    })
  }
}

function inSeconds(ms: number): number
function inSeconds(ms: number | null): number | undefined
function inSeconds(ms: number | null): number | undefined {
  return ms === null ? undefined : ms / 1_000
}
