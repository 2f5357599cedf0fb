/** How far a group has come in a topic on Kafka, and where that is not known for certain. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'

import { hasReached } from '../../domain/collection/facts-lag.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import type { BrokerLine, BrokerView, PartitionBounds } from '../../ports/event-log/kafka/questions/broker-line.ts'
import { progressQuestions } from '../../ports/event-log/kafka/questions/progress.ts'
import { sharedQuestions } from '../../ports/event-log/kafka/questions/in-turn.ts'
import { openTopicBounds } from '../../ports/event-log/kafka/questions/topic-bounds.ts'
import type { KafkaSettings } from '../../ports/event-log/kafka/url.ts'

const TOPIC = 'whence.activations'

/** A broker that believes what the test says. Its ends are those of the partitions that it leads by its own belief. */
class Broker implements BrokerLine {
  readonly nodeId: number
  /** By partition. */
  leaders: readonly (number | null)[]
  /** Node IDs of the brokers that it lists. */
  lists: readonly number[]
  ends: readonly number[]
  isSilent = false
  /** Entries that come while the topic is read. */
  newer = 0
  asked = 0
  rests = 0

  constructor(
    nodeId: number,
    cluster: { leaders: readonly (number | null)[]; lists: readonly number[]; ends: readonly number[] },
  ) {
    this.nodeId = nodeId
    this.leaders = cluster.leaders
    this.lists = cluster.lists
    this.ends = cluster.ends
  }

  async view(topicNames: readonly string[]): Promise<BrokerView> {
    this.asked++
    if (this.isSilent) throw new Error('silent')
    const led = this.leaders.map((leader, partition) => ({ partition, leader }))
    return {
      brokers: this.lists.map((nodeId) => ({ nodeId, address: `broker-${nodeId}:9092` })),
      topics: new Map(topicNames.map((topic) => [topic, led])),
    }
  }

  async bounds(_topic: string, partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionBounds>> {
    if (this.isSilent) throw new Error('silent')
    const led = partitions.filter((partition) => this.leaders[partition] === this.nodeId)
    return new Map(led.map((partition) => [partition, { low: 0, end: this.ends[partition] ?? 0 }]))
  }

  /** Entries as in two batches of Kafka. */
  async entries(_topic: string, { partition, from }: { readonly partition: number; readonly from: number }) {
    if (this.leaders[partition] !== this.nodeId) throw new Error('not the leader')
    const end = this.ends[partition] ?? 0
    const until = from < end - 2 ? end - 2 : end + this.newer
    const offsets = Array.from({ length: until - from }, (_, index) => from + index)
    return offsets.map((offset) => ({ key: 'k', value: `${partition}:${offset}`, offset, appendedAtMs: 0 }))
  }

  rest(): void {
    this.rests++
  }
}

describe('the ends of a topic on Kafka', () => {
  const LISTS = [1, 2, 3]
  let cluster: readonly [Broker, Broker, Broker]
  let bounds: ReturnType<typeof openTopicBounds>
  beforeEach(() => {
    const same = { leaders: [1, 2, 3], lists: LISTS, ends: [10, 20, 30] }
    cluster = [new Broker(1, same), new Broker(2, same), new Broker(3, same)]
    const settings = { brokers: ['broker-1:9092'] } as unknown as KafkaSettings
    bounds = openTopicBounds(settings, (_settings, address) => brokerAt(address))
  })
  afterEach(() => bounds.close())

  const brokerAt = (address: string): Broker => {
    const found = cluster.find(({ nodeId }) => address === `broker-${nodeId}:9092`)
    if (found === undefined) throw new Error(`no broker at ${address}`)
    return found
  }
  const ends = async (): Promise<readonly (number | null)[]> =>
    (await bounds.of(TOPIC)).map((known) => known?.end ?? null)

  it('are those that the leaders tell', async () => {
    expect(await ends()).to.deep.equal([10, 20, 30])
  })

  it('are not known of the partitions whose leader gives no answer, and known of all others', async () => {
    cluster[1].isSilent = true
    expect(await ends()).to.deep.equal([10, null, 30])
  })

  it('are not known of a partition without a leader', async () => {
    for (const broker of cluster) broker.leaders = [1, null, 3]
    expect(await ends()).to.deep.equal([10, null, 30])
  })

  it('are those of the new leader while the one before goes on and still believes to lead', async () => {
    // Stopped before its partition got more entries: it lists all brokers and knows the end of before.
    for (const broker of [cluster[1], cluster[2]]) {
      broker.leaders = [2, 2, 3]
      broker.lists = [2, 3]
      broker.ends = [15, 20, 30]
    }
    expect(await ends()).to.deep.equal([15, 20, 30])
    // All know by now who leads, and the one that was stopped is listed again.
    for (const broker of [cluster[1], cluster[2]]) broker.lists = LISTS
    expect(await ends()).to.deep.equal([15, 20, 30])
  })

  it('are not known if only the broker that was stopped gives an answer, or only half of them agree', async () => {
    expect(await ends()).to.deep.equal([10, 20, 30])
    cluster[1].isSilent = cluster[2].isSilent = true
    expect(await ends()).to.deep.equal([null, null, null])
    cluster[1].isSilent = false
    cluster[1].leaders = [2, 2, 3]
    expect(await ends()).to.deep.equal([null, 20, null])
  })

  it('are not known from a broker that does not lead, by its own word', async () => {
    for (const broker of [cluster[1], cluster[2]]) broker.leaders = [3, 2, 3]
    cluster[2].leaders = [1, 2, 1]
    cluster[0].leaders = [3, 2, 3]
    expect(await ends()).to.deep.equal([null, 20, null])
  })

  it('are told by the only broker of a cluster of one', async () => {
    cluster[0].leaders = [1, 1, 1]
    cluster[0].lists = [1]
    cluster[1].isSilent = cluster[2].isSilent = true
    expect(await ends()).to.deep.equal([10, 20, 30])
  })

  it('are asked of other brokers when one has left the cluster', async () => {
    await ends()
    for (const broker of [cluster[0], cluster[1]]) {
      broker.leaders = [1, 2, 2]
      broker.lists = [1, 2]
    }
    cluster[2].isSilent = true
    expect(await ends()).to.deep.equal([10, 20, 30])
    const { asked } = cluster[2]
    expect(await ends()).to.deep.equal([10, 20, 30])
    expect(cluster[2].asked).to.equal(asked)
  })

  it('cannot be told if no broker gives an answer', async () => {
    for (const broker of cluster) broker.isSilent = true
    expect(String(await rejection(bounds.of(TOPIC)))).to.contain('no broker gave an answer')
  })

  describe('let the entries before them be read', () => {
    const read = async (from: readonly number[]): Promise<readonly string[]> => {
      const values: string[] = []
      for await (const page of bounds.entriesFrom(TOPIC, from)) values.push(...page.map(({ value }) => value))
      return values
    }

    it('from the given offsets on, in several pages, and no newer ones', async () => {
      cluster[2].newer = 3
      expect(await read([10, 17, 25])).to.deep.equal(['1:17', '1:18', '1:19', '2:25', '2:26', '2:27', '2:28', '2:29'])
    })

    it('and nothing if one of them is not known', async () => {
      cluster[2].isSilent = true
      expect(await rejection(read([9, 20, 30]))).to.be.instanceOf(LogUnavailable)
    })

    it('and nothing if entries that must be there do not come', async () => {
      cluster[1].entries = async () => []
      expect(await rejection(read([10, 19, 30]))).to.be.instanceOf(LogUnavailable)
      cluster[1].entries = () => Promise.reject(new Error('not the leader'))
      expect(await rejection(read([10, 19, 30]))).to.be.instanceOf(LogUnavailable)
    })
  })

  it('make a group behind where they are not known, and where its position is beyond them', async () => {
    let positions = new Map([
      [0, 10],
      [1, 20],
      [2, 30],
    ])
    const progress = progressQuestions(
      async () => positions,
      (topic) => bounds.of(topic),
    )
    expect(await progress('facts-writer', TOPIC)).to.deep.equal({ done: [10, 20, 30], ends: [10, 20, 30] })
    cluster[1].isSilent = true
    const { done, ends: known } = await progress('facts-writer', TOPIC)
    expect([done, known, hasReached(done, known)]).to.deep.equal([[10, null, 30], [10, null, 30], false])
    cluster[1].isSilent = false
    positions = new Map([
      [0, 11],
      [2, 30],
    ])
    expect(await progress('facts-writer', TOPIC)).to.deep.equal({ done: [null, 0, 30], ends: [10, 20, 30] })
  })

  it('are asked after the positions, so that a group that goes on meanwhile is not beyond them', async () => {
    const order: string[] = []
    const progress = progressQuestions(
      async () => {
        order.push('positions')
        await wait(1)
        order.push('positions told')
        return new Map()
      },
      async () => {
        order.push('bounds')
        return [{ low: 2, end: 5 }]
      },
    )
    expect(await progress('facts-writer', TOPIC)).to.deep.equal({ done: [2], ends: [5] })
    expect(order).to.deep.equal(['positions', 'positions told', 'bounds'])
  })
})

describe('a question that many ask at once', () => {
  it('is asked once more for all who came while it was under way, and never answered with something older', async () => {
    const runs: PromiseWithResolvers<number>[] = []
    const ask = sharedQuestions(() => {
      const run = Promise.withResolvers<number>()
      runs.push(run)
      return run.promise
    })
    const first = ask('a')
    const second = ask('a')
    const third = ask('a')
    expect(runs.length).to.equal(1)
    runs[0]?.resolve(1)
    expect(await first).to.equal(1)
    await wait(0)
    expect(runs.length).to.equal(2)
    const fourth = ask('a')
    runs[1]?.resolve(2)
    expect(await Promise.all([second, third])).to.deep.equal([2, 2])
    await wait(0)
    runs[2]?.resolve(3)
    expect(await fourth).to.equal(3)
    expect(runs.length).to.equal(3)
  })

  it('is asked again after a failure, which only those hear who came before it', async () => {
    let runs = 0
    const ask = sharedQuestions(async () => {
      runs++
      await wait(1)
      if (runs === 1) throw new Error('away')
      return runs
    })
    const first = ask('a')
    const second = ask('a')
    expect(String(await rejection(first))).to.contain('away')
    expect(await second).to.equal(2)
  })

  it('is asked for each key by itself', async () => {
    const ask = sharedQuestions(async (key: string) => key)
    expect(await Promise.all([ask('a'), ask('b')])).to.deep.equal(['a', 'b'])
  })
})

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  )
}
