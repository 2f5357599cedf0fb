/** A member of a Kafka group whose coordinator moved: it is recreated, whatever kafkajs's own consumer does. */

import { expect } from 'chai'
import type { Kafka } from 'kafkajs'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { until } from '../../fixtures/until.ts'
import type { Consumer } from '../../ports/event-log/event-log.ts'
import { startMember, type MemberPlace, type MemberSettings } from '../../ports/event-log/kafka/consumer.ts'

const PACE = { retryMs: { first: 1, most: 5 }, recheckMs: 10, random: () => 0, inHandMs: 5_000 }
const WATCHDOG = { stalledMs: 60_000, silentMs: 60_000, uncommittedMs: 50 }
const SETTINGS: MemberSettings = {
  nowMs: Date.now,
  pace: PACE,
  membership: { sessionMs: 1_000, heartbeatMs: 10, fetchWaitMs: 10, rebalanceMs: 0, joinMs: 5_000 },
  watchdog: WATCHDOG,
  fetching: {
    maxBytesPerPartition: 1_000_000,
    budget: { bytes: 0, maxBytes: 1_000_000 },
    onFetch: () => undefined,
  },
  onFailure: () => undefined,
}

describe('a member of a Kafka group', () => {
  let member: Consumer | null = null
  afterEach(() => member?.close())

  const start = async (kafka: FakeKafka, more: Partial<MemberSettings> = {}, lagOf = async () => 0): Promise<void> => {
    member = await startMember(placeOn(kafka, lagOf), { ...SETTINGS, ...more })
  }

  it('is recreated if its commits are refused by a former coordinator', async () => {
    const kafka = new FakeKafka()
    await start(kafka)
    kafka.latest.commit = () => Promise.reject(protocolError('NOT_COORDINATOR_FOR_GROUP'))
    kafka.latest.fetch(7)
    await until(() => kafka.consumers.length > 1 && kafka.latest.committed === 8)
  })

  it('stays if a commit fails once', async () => {
    const kafka = new FakeKafka()
    await start(kafka, { watchdog: { ...WATCHDOG, uncommittedMs: 60_000 } })
    const { latest } = kafka
    const commit = latest.commit
    latest.commit = () => {
      latest.commit = commit
      return Promise.reject(protocolError('REBALANCE_IN_PROGRESS'))
    }
    latest.fetch(7)
    await until(() => latest.committed === 8)
    expect(kafka.consumers).to.have.length(1)
  })

  it('is recreated if it keeps fetching but no heartbeat is answered any more', async () => {
    const kafka = new FakeKafka()
    await start(kafka, { watchdog: { ...WATCHDOG, silentMs: 80 } })
    const [first] = kafka.consumers
    const beating = setInterval(() => first?.emit('HEARTBEAT'), 10)
    await wait(300)
    expect(kafka.consumers, 'while heartbeats are answered').to.have.length(1)
    clearInterval(beating)
    const fetching = setInterval(() => first?.emit('FETCH'), 10)
    await until(() => kafka.consumers.length > 1)
    clearInterval(fetching)
  })

  it('reads the lag again if that failed', async () => {
    const kafka = new FakeKafka()
    let questions = 0
    await start(kafka, { watchdog: { ...WATCHDOG, stalledMs: 80 } }, async () => {
      kafka.latest.emit('FETCH')
      if (++questions === 1) throw new Error('Kafka could not be asked')
      return 3
    })
    const fetching = setInterval(() => kafka.latest.emit('FETCH'), 10)
    await until(() => kafka.consumers.length > 1)
    clearInterval(fetching)
    expect(questions).to.equal(2)
  })

  it('stops at once while it waits to be recreated', async () => {
    const kafka = new FakeKafka()
    let isFailing = false
    const pace = { ...PACE, retryMs: { first: 60_000, most: 60_000 } }
    await start(kafka, { pace, onFailure: () => (isFailing = true) })
    kafka.latest.emit('CRASH', { error: new Error('the broker is away') })
    await until(() => isFailing)
    await turn()
    await member?.close()
    expect(kafka.consumers).to.have.length(1)
  })
})

type EventName = 'GROUP_JOIN' | 'FETCH' | 'HEARTBEAT' | 'CRASH'
type Fetched = (payload: unknown) => Promise<void>

/** The part of kafkajs's consumer that `startMember` uses, with one partition. */
class FakeConsumer {
  readonly events = { GROUP_JOIN: 'GROUP_JOIN', FETCH: 'FETCH', HEARTBEAT: 'HEARTBEAT', CRASH: 'CRASH' } as const
  committed: number | null = null
  commit: (offset: number) => Promise<void> = async (offset) => void (this.committed = offset)
  readonly #listeners = new Map<EventName, (event: unknown) => void>()
  #eachBatch: Fetched = async () => undefined

  on(name: EventName, listener: (event: unknown) => void): void {
    this.#listeners.set(name, listener)
  }

  emit(name: EventName, payload: unknown = {}): void {
    this.#listeners.get(name)?.({ payload })
  }

  async connect(): Promise<void> {}
  async subscribe(): Promise<void> {}
  async disconnect(): Promise<void> {}
  pause(): void {}
  resume(): void {}

  async run({ eachBatch }: { readonly eachBatch: Fetched }): Promise<void> {
    this.#eachBatch = eachBatch
    this.emit('GROUP_JOIN', { memberAssignment: { visits: [0] } })
  }

  commitOffsets([{ offset }]: readonly [{ readonly offset: string }]): Promise<void> {
    return this.commit(Number(offset))
  }

  fetch(offset: number): void {
    const message = { offset: String(offset), key: Buffer.from('k'), value: Buffer.from('v'), timestamp: '0' }
    const batch = {
      partition: 0,
      messages: [message],
      highWatermark: String(offset + 1),
      lastOffset: () => message.offset,
    }
    void this.#eachBatch({ batch, isStale: () => false, resolveOffset: () => undefined })
  }
}

class FakeKafka {
  readonly consumers: FakeConsumer[] = []

  get latest(): FakeConsumer {
    const latest = this.consumers.at(-1)
    if (latest === undefined) throw new Error('no consumer was made')
    return latest
  }

  consumer(): FakeConsumer {
    const consumer = new FakeConsumer()
    this.consumers.push(consumer)
    return consumer
  }
}

function placeOn(kafka: FakeKafka, lagOf: () => Promise<number>): MemberPlace {
  return {
    kafka: kafka as unknown as Kafka,
    names: { topic: 'visits', topicName: 'visits', group: 'test', groupId: 'test:visits' },
    handler: async () => undefined,
    options: { maxEntries: 10 },
    questions: {
      lagOf,
      positions: async () => new Map(),
      offsetsSince: async () => new Map(),
      newestOf: async () => new Map(),
    },
  }
}

function protocolError(type: string): Error {
  return Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type })
}
