/** What the producer requires of Kafka: all replicas in sync have a record before its append counts. */

import { expect } from 'chai'
import type { Kafka, ProducerRecord } from 'kafkajs'

import type { Topic } from '../../domain/records.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { KafkaAppendQueue } from '../../ports/event-log/kafka/appends.ts'
import { LeadersMoved, type LeaderWatch } from '../../ports/event-log/kafka/questions/leaders.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import { KafkaSender } from '../../ports/event-log/kafka/producer.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'

/** Nobody else ever leads. */
const SETTLED: LeaderWatch = {
  changes: 0,
  watch: () => ({ moved: new Promise(() => undefined), end: () => undefined }),
  close: () => undefined,
}

/** What timers were set for, in ms. */
async function pausesDuring(act: () => Promise<void>): Promise<readonly number[]> {
  const pausesMs: number[] = []
  const own = globalThis.setTimeout
  const noted = (run: () => void, ms = 0): NodeJS.Timeout => {
    pausesMs.push(ms)
    return own(run, ms)
  }
  globalThis.setTimeout = Object.assign(noted, own)
  await act().finally(() => (globalThis.setTimeout = own))
  return pausesMs
}

describe('an append to Kafka', () => {
  it('counts once all replicas in sync have it, and is refused with any other answer than success', async () => {
    const sent: ProducerRecord[] = []
    const answers = [[{ errorCode: 19 }], [], [{ errorCode: 0 }]]
    const producer = {
      connect: async () => undefined,
      disconnect: async () => undefined,
      send: async (record: ProducerRecord) => {
        sent.push(record)
        return answers[sent.length - 1] ?? []
      },
    }
    const failures: string[] = []
    const queue = new KafkaAppendQueue({ maxBytes: 1_000_000, maxEntries: 100, batchBytes: 100_000 })
    const sender = new KafkaSender(() => ({ producer: () => producer }) as unknown as Kafka, queue, {
      topicName: (topic) => `test.${topic}`,
      nowMs: () => 1_795_168_800_000,
      times: { lingerMs: 0, requestMs: 5_000 },
      leaders: SETTLED,
      news: {
        onSent: () => undefined,
        onBroken: () => undefined,
        onFailure: (error) => void failures.push(error.message),
      },
    })
    const appended = queue.add('visits', [{ key: 'k', value: 'v' }], { deadlineMs: 10_000, patienceMs: 10_000 })
    sender.request('visits')
    await appended
    await sender.close()
    expect(failures).to.deep.equal(['Kafka refused a batch with code 19', 'Kafka answered for no partition'])
    expect(sent.map(({ topic, acks }) => ({ topic, acks }))).to.deep.equal(
      Array(3).fill({ topic: 'test.visits', acks: -1 }),
    )
    expect(sent[2]?.messages).to.deep.equal([{ key: 'k', value: 'v', timestamp: '1795168800000' }])
  })

  it('is sent again, by a new producer, as soon as others lead its topic', async () => {
    const moves: ((error: Error) => void)[] = []
    const watch: LeaderWatch['watch'] = () => {
      const { promise, reject } = Promise.withResolvers<never>()
      promise.catch(() => undefined)
      moves.push(reject)
      return { moved: promise, end: () => undefined }
    }
    let producers = 0
    const producer = () => {
      const number = ++producers
      return {
        connect: async () => undefined,
        disconnect: async () => undefined,
        // The first one's broker has stopped.
        send: () => (number === 1 ? new Promise(() => undefined) : Promise.resolve([{ errorCode: 0 }])),
      }
    }
    const queue = new KafkaAppendQueue({ maxBytes: 1_000_000, maxEntries: 100, batchBytes: 100_000 })
    const sender = new KafkaSender(() => ({ producer }) as unknown as Kafka, queue, {
      topicName: (topic) => topic,
      nowMs: Date.now,
      times: { lingerMs: 0, requestMs: 60_000 },
      leaders: { ...SETTLED, watch },
      news: { onSent: () => undefined, onBroken: () => undefined, onFailure: () => undefined },
    })
    const appended = queue.add('visits', [{ key: 'k', value: 'v' }], { deadlineMs: 60_000, patienceMs: 60_000 })
    sender.request('visits')
    while (moves.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    moves[0]?.(new Error('other brokers lead the topic now'))
    await appended
    expect(producers).to.equal(2)
    await sender.close()
  })
  it('is sent by a new producer once others were found to lead any topic, whatever happened to the old one', async () => {
    const leaders = { ...SETTLED, changes: 0 }
    const senders: number[] = []
    let producers = 0
    const producer = () => {
      const number = ++producers
      const send = async () => {
        senders.push(number)
        return [{ errorCode: 0 }]
      }
      return { connect: async () => undefined, disconnect: async () => undefined, send }
    }
    const queue = new KafkaAppendQueue({ maxBytes: 1_000_000, maxEntries: 100, batchBytes: 100_000 })
    const sender = new KafkaSender(() => ({ producer }) as unknown as Kafka, queue, {
      topicName: (topic) => topic,
      nowMs: Date.now,
      times: { lingerMs: 0, requestMs: 60_000 },
      leaders,
      news: { onSent: () => undefined, onBroken: () => undefined, onFailure: () => undefined },
    })
    const append = async (topic: Topic): Promise<void> => {
      const appended = queue.add(topic, [{ key: 'k', value: 'v' }], { deadlineMs: 60_000, patienceMs: 60_000 })
      sender.request(topic)
      await appended
    }
    for (const topic of ['visits', 'installs'] as const) await append(topic)
    leaders.changes++
    for (const topic of ['activations', 'visits'] as const) await append(topic)
    expect(senders).to.deep.equal([1, 1, 2, 2])
    await sender.close()
  })

  it('is tried again at once when others lead, however often it had failed', async () => {
    const failures = [new Error('timed out'), new Error('timed out'), new LeadersMoved(), null]
    const send = async () => {
      const failure = failures.shift()
      if (failure instanceof Error) throw failure
      return [{ errorCode: 0 }]
    }
    const producer = { connect: async () => undefined, disconnect: async () => undefined, send }
    const queue = new KafkaAppendQueue({ maxBytes: 1_000_000, maxEntries: 100, batchBytes: 100_000 })
    const sender = new KafkaSender(() => ({ producer: () => producer }) as unknown as Kafka, queue, {
      topicName: (topic) => topic,
      nowMs: Date.now,
      times: { lingerMs: 0, requestMs: 60_000 },
      leaders: SETTLED,
      news: { onSent: () => undefined, onBroken: () => undefined, onFailure: () => undefined },
    })
    const appended = queue.add('visits', [{ key: 'k', value: 'v' }], { deadlineMs: 60_000, patienceMs: 60_000 })
    const pausesMs = await pausesDuring(async () => {
      sender.request('visits')
      await appended
    })
    const [first = 0, second = 0, third] = pausesMs.filter((ms) => ms > 0 && ms < 60_000)
    expect(second).to.be.greaterThan(first)
    expect(third).to.equal(first)
    await sender.close()
  })

  it('is refused by a log that is closed while no broker is there, long before its own time is over', async function () {
    this.timeout(60_000)
    const parsed = parseKafkaUrl(`kafka://127.0.0.1:${await freePort()}?replication=1&min-in-sync=1&unsafe=allow`)
    if (!parsed.ok) throw new Error(parsed.why)
    const log = await kafkaEventLog(parsed.value)
    const patience = { deadlineMs: 600_000, patienceMs: 600_000 }
    const refused = log.append('visits', [{ key: 'k', value: 'v' }], patience).catch((error: unknown) => error)
    await log.close()
    expect(await refused).to.be.instanceOf(LogUnavailable)
  })
})
