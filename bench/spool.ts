/**
 * Measures how fast a spool is copied to Kafka: `node bench/spool.ts [arrivals a second] [seconds of outage]`.
 *
 * A separate broker (one node, one copy) is killed; entries of 1.5 KB keep arriving, into the spool. They also keep
 * arriving when the broker is back, while the time until the spool is empty is measured. Broker and process share the
 * machine.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { checkKafkaTopics, kafkaEventLog } from '../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../ports/event-log/kafka/url.ts'
import { lmdbEventLog } from '../ports/event-log/lmdb/lmdb.ts'
import { SPOOL_LOG_OPTIONS, spooledEventLog, type SpooledEventLog } from '../ports/event-log/spool/spooled.ts'
import { openLmdb } from '../ports/shared/lmdb/environment.ts'
import { kafkaJars, startKafka } from '../fixtures/engines/kafka.ts'

const [perS = 2_000, outageS = 10] = process.argv.slice(2).map(Number)
const TICK_MS = 10
const VALUE = 'field=value; '.repeat(115)
const DRAIN_S = 60
const TIMES_FASTER = 5
let most = 0

const jars = await kafkaJars()
if (jars === null) process.exit(1)
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-spool-'))
const broker = await startKafka(jars)
try {
  const parsed = parseKafkaUrl(`kafka://${broker.plain}?partitions=12&replication=1`)
  if (!parsed.ok) throw new Error(parsed.why)
  await checkKafkaTopics(parsed.value, { create: 'all', topics: ['visits'] })
  const environment = await openLmdb(folder, { nowMs: Date.now, onFatal: fail })
  const spool = await lmdbEventLog(environment, SPOOL_LOG_OPTIONS)
  const log = await spooledEventLog(await kafkaEventLog(parsed.value), spool, { maxBytes: 4e9 })
  await measure(log)
  await log.close()
  await environment.close()
} finally {
  await broker.stop()
  await rm(folder, { recursive: true, force: true })
}

async function measure(log: SpooledEventLog): Promise<void> {
  const load = arrivals(log)
  await wait(1_000)
  await broker.kill()
  await wait(outageS * 1_000)
  await broker.restart()
  const { entries, bytes } = log.spool()
  console.log(`spooled: ${entries} entries, ${Math.round(bytes / 1e6)} MB, at ${perS} arrivals/s`)
  // The time until the log notices that Kafka is back is not part of the rate.
  while (!hasShrunk(log)) await wait(1)
  const before = { entries: log.spool().entries, arrived: load.count(), atMs: performance.now() }
  const cpuBefore = process.cpuUsage()
  const endAtMs = before.atMs + DRAIN_S * 1_000
  while (log.spool().entries > 0 && performance.now() < endAtMs) await wait(5)
  const tookS = (performance.now() - before.atMs) / 1_000
  const cpu = process.cpuUsage(cpuBefore)
  const drained = before.entries - log.spool().entries + load.count() - before.arrived
  await load.stop()
  const rate = drained / tookS
  const verdict = rate >= TIMES_FASTER * perS ? 'reached' : 'missed'
  console.log(`drained: ${Math.round(rate)}/s in ${tookS.toFixed(1)} s, ${(rate / perS).toFixed(1)} times the arrivals`)
  // Of all threads, including arrivals: the rate of a dedicated core, however busy this machine is.
  const perCpuS = drained / ((cpu.user + cpu.system) / 1e6)
  console.log(
    `  ${Math.round(perCpuS)} for each second of processor time, ${(perCpuS / perS).toFixed(1)} times the arrivals`,
  )
  console.log(`at least ${TIMES_FASTER} times: ${verdict}; refused: ${load.refused()}`)
}

/** True if fewer entries wait than at the previous check. */
function hasShrunk(log: SpooledEventLog): boolean {
  const { entries } = log.spool()
  const isLess = entries < most
  most = Math.max(most, entries)
  return isLess
}

function arrivals(log: SpooledEventLog): {
  readonly count: () => number
  readonly refused: () => number
  readonly stop: () => Promise<void>
} {
  const startedAtMs = performance.now()
  const pending = new Set<Promise<void>>()
  let count = 0
  let refused = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAtMs) / 1_000) * perS)
    for (; count < due; count++) {
      const appended = log.append('visits', [{ key: `acme:${count}`, value: VALUE }]).catch(() => void refused++)
      pending.add(appended)
      void appended.finally(() => pending.delete(appended))
    }
  }, TICK_MS)
  return {
    count: () => count,
    refused: () => refused,
    stop: async () => {
      clearInterval(timer)
      await Promise.all(pending)
    },
  }
}

function fail(error: Error): void {
  throw error
}
