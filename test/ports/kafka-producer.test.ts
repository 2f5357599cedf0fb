/** What the producer requires of Kafka: all replicas in sync have a record before its append counts. */

import { expect } from 'chai'
import type { Kafka, ProducerRecord } from 'kafkajs'

import { KafkaAppendQueue } from '../../ports/event-log/kafka/appends.ts'
import { KafkaSender } from '../../ports/event-log/kafka/producer.ts'

describe('an append to Kafka', () => {
  it('counts once all replicas in sync have it, and is refused with any other answer than success', async () => {
    const sent: ProducerRecord[] = []
    const errorCodes = [19, 0]
    const producer = {
      connect: async () => undefined,
      disconnect: async () => undefined,
      send: async (record: ProducerRecord) => {
        sent.push(record)
        return [{ errorCode: errorCodes[sent.length - 1] ?? 0 }]
      },
    }
    const failures: string[] = []
    const queue = new KafkaAppendQueue({ maxBytes: 1_000_000, maxEntries: 100, batchBytes: 100_000 })
    const sender = new KafkaSender({ producer: () => producer } as unknown as Kafka, queue, {
      topicName: (topic) => `test.${topic}`,
      nowMs: () => 1_795_168_800_000,
      lingerMs: 0,
      requestMs: 5_000,
      onSent: () => undefined,
      onFailure: (error) => void failures.push(error.message),
    })
    const appended = queue.add('visits', [{ key: 'k', value: 'v' }], { deadlineMs: 10_000, patienceMs: 10_000 })
    sender.request('visits')
    await appended
    await sender.close()
    expect(failures).to.deep.equal(['Kafka refused a batch with code 19'])
    expect(sent.map(({ topic, acks }) => ({ topic, acks }))).to.deep.equal(
      Array(2).fill({ topic: 'test.visits', acks: -1 }),
    )
    expect(sent[1]?.messages).to.deep.equal([{ key: 'k', value: 'v', timestamp: '1795168800000' }])
  })
})
