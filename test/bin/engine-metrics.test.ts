/** What a process reports about its engines in metrics, and when it counts as ready. */

import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { reportEngines } from '../../bin/wiring/engine-metrics.ts'
import { startMetrics } from '../../bin/wiring/probes.ts'
import type { EventLogHealth } from '../../ports/event-log/event-log.ts'
import { createLifecycle } from '../../runtime/lifecycle.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/metrics.ts'

const logger = createLogger({ program: 'test', level: 'silent', format: 'json' })
const IDLE: EventLogHealth = {
  isAccepting: true,
  refuses: null,
  queuedBytes: 0,
  maxQueuedBytes: 100,
  lastAppendAtMs: null,
  lastFetchAtMs: null,
}

describe('metrics of engines', () => {
  it('show the state at the time they are read, and leave out unknown values', async () => {
    const registry = createRegistry('test', '1')
    let health = IDLE
    const lag = [{ topic: 'visits' as const, group: 'facts-writer', entries: 7 }]
    const engines = {
      eventLog: { health: () => health },
      hotState: { health: () => ({ isReachable: true, isShared: false }) },
      facts: { health: () => ({ isReachable: false, lastInsertAtMs: 5_000 }) },
      lag: () => lag,
    }
    reportEngines(registry, engines)
    reportEngines(registry, engines)
    const before = await registry.metrics()
    for (const line of [
      'whence_event_log_accepting 1',
      'whence_event_log_max_queued_bytes 100',
      'whence_hot_state_reachable 1',
      'whence_hot_state_shared 0',
      'whence_facts_reachable 0',
      'whence_facts_last_insert_timestamp_seconds 5',
      'whence_event_log_lag_entries{topic="visits",role="facts-writer"} 7',
    ]) {
      expect(before.split('\n')).to.include(line)
    }
    expect(before).to.not.match(/^whence_event_log_last_append_timestamp_seconds /m)
    expect(before).to.not.match(/^whence_event_log_refusing\{/m)
    health = { ...IDLE, isAccepting: false, refuses: 'disk_full', lastAppendAtMs: 1_500 }
    const after = (await registry.metrics()).split('\n')
    expect(after).to.include.members([
      'whence_event_log_accepting 0',
      'whence_event_log_refusing{why="disk_full"} 1',
      'whence_event_log_last_append_timestamp_seconds 1.5',
    ])
  })

  it('of a spool are present if there is one', async () => {
    const registry = createRegistry('test', '1')
    const spool = () => ({ entries: 3, bytes: 40, maxBytes: 100, oldestAgeMs: 2_000 })
    reportEngines(registry, { eventLog: { health: () => IDLE, spool } })
    expect((await registry.metrics()).split('\n')).to.include.members([
      'whence_spool_entries 3',
      'whence_spool_bytes 40',
      'whence_spool_max_bytes 100',
      'whence_spool_oldest_seconds 2',
    ])
  })
})

describe('/live and /ready', () => {
  it('differ: a process is live from start to end, and ready only from when it can answer until it drains', async () => {
    const signals = new EventEmitter()
    const lifecycle = createLifecycle({ logger, stopDeadlineMs: 5_000, signals, exit: () => undefined })
    const own = { logger, lifecycle, registry: createRegistry('test', '1'), nowMs: Date.now }
    const probes = await startMetrics(own, { host: '127.0.0.1', port: 0 })
    const ask = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${probes.port}${path}`)).status
    const both = async (): Promise<number[]> => [await ask('/live'), await ask('/ready')]
    let whileStopping: number[] = []
    await lifecycle.start(
      'work',
      () => undefined,
      async () => void (whileStopping = await both()),
    )
    try {
      expect(await both()).to.deep.equal([200, 503])
      probes.ready()
      expect(await both()).to.deep.equal([200, 200])
      signals.emit('SIGUSR2')
      expect(await both()).to.deep.equal([200, 503])
    } finally {
      await lifecycle.stop('request')
    }
    expect(whileStopping).to.deep.equal([200, 503])
  })
})
