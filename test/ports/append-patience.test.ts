/** How long appends wait: for a log that is stuck until their deadline, for one that makes progress until their time limit. */

import { expect } from 'chai'
import { setTimeout as wait } from 'node:timers/promises'
import { nextLookMs } from '../../ports/event-log/append-patience.ts'
import type { Topic } from '../../domain/records.ts'
import { LogUnavailable, type Entry } from '../../ports/event-log/event-log.ts'
import { KafkaAppendQueue } from '../../ports/event-log/kafka/appends.ts'
import { AppendQueue } from '../../ports/event-log/lmdb/appends.ts'

const PATIENCE = { deadlineMs: 1_000, patienceMs: 3_500 }
const ENTRY = { key: 'k', value: 'v' }
const SHORT = { deadlineMs: 20, patienceMs: 60_000 }

describe('the time limit of an append', () => {
  it('lasts until the deadline if the log is stuck', () => {
    const append = { sinceMs: 0, patience: PATIENCE }
    expect(nextLookMs(append, { nowMs: 999, stuckMs: 5_000 })).to.equal(1_000)
    expect(nextLookMs(append, { nowMs: 1_000, stuckMs: 1_000 })).to.equal(null)
  })

  it('checks again when a batch in flight will have been stuck for that long', () => {
    expect(nextLookMs({ sinceMs: 0, patience: PATIENCE }, { nowMs: 1_000, stuckMs: 400 })).to.equal(1_600)
  })

  it('ends even if the log makes progress', () => {
    const append = { sinceMs: 0, patience: PATIENCE }
    expect(nextLookMs(append, { nowMs: 3_400, stuckMs: 10 })).to.equal(3_500)
    expect(nextLookMs(append, { nowMs: 3_500, stuckMs: 0 })).to.equal(null)
  })

  it('is shorter than the deadline if the caller says so', () => {
    const append = { sinceMs: 0, patience: { deadlineMs: 500, patienceMs: 500 } }
    expect(nextLookMs(append, { nowMs: 500, stuckMs: 0 })).to.equal(null)
  })

  it('keeps what waits on a disk that is slow, and answers it', async () => {
    const queue = new AppendQueue({ maxBytes: 1_000, maxEntries: 10, stuckMs: () => 0 })
    const appended = queue.add('visits', [ENTRY], SHORT)
    await wait(SHORT.deadlineMs * 3)
    queue.take().settle(null)
    await appended
    expect(queue.bytes).to.equal(0)
  })

  it('counts an append that ended in the queue as a refusal, until one is stored again', async () => {
    let stuckMs = 0
    const queue = new AppendQueue({ maxBytes: 1_000, maxEntries: 10, stuckMs: () => stuckMs })
    const late = queue.add('visits', [ENTRY], SHORT)
    stuckMs = 60_000
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(LogUnavailable)
    expect(queue.expiredAtMs).to.be.greaterThan(0)
    const next = queue.add('visits', [ENTRY], SHORT)
    queue.take().settle(null)
    await next
    expect(queue.expiredAtMs).to.equal(Number.NEGATIVE_INFINITY)
  })

  it('ends appends that wait for a batch that Kafka does not answer, and counts them', async () => {
    const queue = new KafkaAppendQueue({ maxBytes: 1_000, maxEntries: 10, batchBytes: 30 })
    const sending = queue.sending('visits')
    const first = queue.add('visits', [ENTRY], SHORT)
    const second = queue.add('visits', [ENTRY], SHORT)
    sending.take()
    const outcomes = await Promise.allSettled([first, second])
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(queue.expiredAtMs).to.be.greaterThan(0)
    expect(queue.stuckMs).to.be.greaterThan(0)
    sending.settle(null)
    expect(queue.stuckMs).to.equal(0)
  })

  it('lets appends be stored that wait while batches are stored one after another', async () => {
    const queue = new KafkaAppendQueue({ maxBytes: 1_000, maxEntries: 10, batchBytes: 30 })
    const sending = queue.sending('visits')
    const patience = { deadlineMs: 1_000, patienceMs: 60_000 }
    const appends = Array.from({ length: 5 }, () => queue.add('visits', [ENTRY], patience))
    while (sending.take() !== null) {
      await wait(patience.deadlineMs / 3)
      sending.settle(null)
    }
    const outcomes = await Promise.allSettled(appends)
    expect(outcomes.map(({ status }) => status)).to.deep.equal(Array(5).fill('fulfilled'))
  })
})

describe('what a queue in front of Kafka says of itself', () => {
  const queueOf = (maxBytes = 1_000_000): KafkaAppendQueue =>
    new KafkaAppendQueue({ maxBytes, maxEntries: 100, batchBytes: 100_000 })
  const entry = (bytes: number): Entry => ({ key: 'k', value: 'v'.repeat(bytes) })
  const patient = { deadlineMs: 60_000, patienceMs: 60_000 }

  it('is that a topic is late until something of that topic is stored, whatever is stored of others', async () => {
    const queue = queueOf()
    const refused = await queue
      .add('visits', [entry(1)], { deadlineMs: 1, patienceMs: 1 })
      .catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(LogUnavailable)
    const store = async (topic: Topic): Promise<void> => {
      const stored = queue.add(topic, [entry(1)], patient)
      const sending = queue.sending(topic)
      sending.take()
      sending.settle(null)
      await stored
    }
    await store('installs')
    expect(queue.expiredAtMs).to.be.greaterThan(0)
    await store('visits')
    expect(queue.expiredAtMs).to.equal(Number.NEGATIVE_INFINITY)
  })

  it('is that it is full once an append did not fit, although a smaller one would', async () => {
    const queue = queueOf(1_000)
    const first = queue.add('visits', [entry(700)], patient)
    expect(queue.isFull).to.equal(false)
    const refused = await queue.add('visits', [entry(700)], patient).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(LogUnavailable)
    expect(queue.isFull).to.equal(true)
    const sending = queue.sending('visits')
    sending.take()
    sending.settle(null)
    await first
  })
})
