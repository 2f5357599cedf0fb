/**
 * Measures durable appends and consuming on Kafka: `node bench/kafka.ts [runs] [seconds]`.
 *
 * Starts a separate broker (one node, one copy, so an acknowledged entry is in its memory) that shares the machine's
 * cores. Prints, per number of appends in flight, medians of several runs: appends a second, CPU time per append of this
 * process, and the 99th percentile of the latency; then kafkajs with one message a call, as a yardstick of the same run;
 * then how fast a consumer hands a backlog over. Values are JSON of 1.5 KB.
 */

import type { Entry, EventLog } from '../ports/event-log/event-log.ts'
import { kafkaClient } from '../ports/event-log/kafka/client.ts'
import { checkKafkaTopics, kafkaEventLog } from '../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl } from '../ports/event-log/kafka/url.ts'
import { kafkaJars, startKafka } from '../fixtures/engines/kafka.ts'
import { median, roundsFrom } from './support/rounds.ts'

const DEPTHS = [1, 64, 256, 1_024]
const FILLER = 'field=value; '.repeat(40)
const runs = roundsFrom(process.argv[2], 3)
const seconds = Number(process.argv[3] ?? 2)

interface Run {
  readonly appendsPerS: number
  readonly cpuUs: number
  readonly p99Ms: number
}

const visits = Array.from({ length: 4_096 }, (_, number) => visit(number))
const jars = await kafkaJars()
if (jars === null) process.exit(1)
const broker = await startKafka(jars)
try {
  await measureAll()
} finally {
  await broker.stop()
}

async function measureAll(): Promise<void> {
  const parsed = parseKafkaUrl(`kafka://${broker.plain}?partitions=12&replication=1`)
  if (!parsed.ok) throw new Error(parsed.why)
  const settings = parsed.value
  await checkKafkaTopics(settings, { create: 'all', topics: ['visits'] })
  const log = await kafkaEventLog(settings)
  const append = (entry: Entry): Promise<void> => log.append('visits', [entry], { deadlineMs: 10_000 })
  try {
    await load(append, 64, 1_000)
    for (const depth of DEPTHS) await report(`${String(depth).padStart(5)} in flight`, append, depth)
    const producer = kafkaClient(settings, { requestMs: 10_000 }).producer()
    await producer.connect()
    const send = async (entry: Entry): Promise<void> => {
      await producer.send({ topic: 'visits', acks: -1, messages: [entry] })
    }
    await report('kafkajs, one message a call, 64 in flight', send, 64)
    await producer.disconnect()
    await consume(log)
  } finally {
    await log.close()
  }
}

async function report(name: string, append: (entry: Entry) => Promise<void>, depth: number): Promise<void> {
  const results: Run[] = []
  for (let run = 0; run < runs; run++) results.push(await load(append, depth, seconds * 1000))
  const middle = (pick: (run: Run) => number): number => median(results.map(pick))
  const columns = [
    name,
    `${Math.round(middle((run) => run.appendsPerS)).toLocaleString('en')} appends/s`,
    `${middle((run) => run.cpuUs).toFixed(1)} us CPU`,
    `p99 ${middle((run) => run.p99Ms).toFixed(2)} ms`,
  ]
  console.log(columns.join('  '))
}

async function load(append: (entry: Entry) => Promise<void>, depth: number, forMs: number): Promise<Run> {
  const latencies: number[] = []
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  const one = async (): Promise<void> => {
    while (performance.now() - startMs < forMs) {
      const beganMs = performance.now()
      await append(visits[latencies.length % visits.length] ?? visit(0))
      latencies.push(performance.now() - beganMs)
    }
  }
  await Promise.all(Array.from({ length: depth }, one))
  const count = latencies.length
  const used = process.cpuUsage(cpu)
  return {
    appendsPerS: (count / (performance.now() - startMs)) * 1000,
    cpuUs: (used.user + used.system) / count,
    p99Ms: latencies.toSorted((left, right) => left - right)[Math.floor(count * 0.99)] ?? Number.NaN,
  }
}

async function consume(log: EventLog): Promise<void> {
  const backlog = 100_000
  for (let stored = 0; stored < backlog; stored += visits.length) {
    await log.append('visits', visits, { deadlineMs: 60_000 })
  }
  let count = 0
  const reached = Promise.withResolvers<void>()
  const startMs = performance.now()
  const cpu = process.cpuUsage()
  const consumer = await log.consume(
    'visits',
    'bench',
    async ({ entries }) => {
      count += entries.length
      if (count >= backlog) reached.resolve()
    },
    { maxEntries: 10_000, lingerMs: 100 },
  )
  await reached.promise
  const used = process.cpuUsage(cpu)
  const tookMs = performance.now() - startMs
  await consumer.close()
  const perS = Math.round((count / tookMs) * 1000).toLocaleString('en')
  console.log(`consumed ${perS} entries/s  ${((used.user + used.system) / count).toFixed(1)} us CPU`)
}

/** About what a visit with its request log weighs; part of it differs each time, as it does there. */
function visit(number: number): Entry {
  const id = ((number * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0').repeat(4)
  const client = Array.from({ length: 12 }, (_, index) => [`fact_${index}`, `${id.slice(index)} of some length`])
  const request = { id, path: '/v1/visits', body: `${id}${FILLER}`, origin: 'https://acme.dev', addressHash: id }
  const facts = { visitId: id, pageUrl: 'https://acme.dev/docs/install', client: Object.fromEntries(client) }
  return { key: `acme-dev:${id}`, value: JSON.stringify({ v: 1, kind: 'visit', request, visit: facts }) }
}
