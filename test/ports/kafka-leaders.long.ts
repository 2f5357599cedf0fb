/** Who leads a topic is watched while a send takes long: Kafka gives partitions to others, and silence does not say so. */

import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'

import {
  leaderWatch,
  type Leaders,
  type LeaderSource,
  type LeaderWatch,
} from '../../ports/event-log/kafka/questions/leaders.ts'

/** Longer than a send may take before anybody is asked. */
const SLOW_MS = 900

class Broker implements LeaderSource {
  leaders: string | null
  asked = 0
  rests = 0

  constructor(leaders: string | null) {
    this.leaders = leaders
  }

  async ask(topics: readonly string[]): Promise<Leaders> {
    this.asked++
    if (this.leaders === null) throw new Error('silent')
    return new Map(topics.map((topic) => [topic, this.leaders ?? '']))
  }

  rest(): void {
    this.rests++
  }
}

describe('watching the leaders', () => {
  let brokers: readonly [Broker, Broker, Broker]
  let watch: LeaderWatch
  beforeEach(() => {
    brokers = [new Broker(null), new Broker('1,2,3'), new Broker('1,2,3')]
    watch = leaderWatch(brokers)
  })
  afterEach(() => watch.close())

  const asked = async (broker: Broker): Promise<void> => {
    const before = broker.asked
    while (broker.asked < before + 2) await wait(10)
  }
  const isMoved = async ({ moved }: { readonly moved: Promise<never> }): Promise<boolean> =>
    (await Promise.race([moved.catch(() => 'moved'), wait(0, 'waits')])) === 'moved'

  it('asks no broker for sends that end soon', async () => {
    for (let sends = 0; sends < 6; sends++) {
      const { end } = watch.watch('visits')
      await wait(SLOW_MS / 6)
      end()
    }
    expect(brokers.map((broker) => broker.asked)).to.deep.equal([0, 0, 0])
  })

  it('ends a send once all answering brokers say that others lead', async () => {
    const sending = watch.watch('visits')
    await asked(brokers[1])
    expect(await isMoved(sending)).to.equal(false)
    brokers[1].leaders = '2,2,3'
    await asked(brokers[1])
    expect(await isMoved(sending)).to.equal(false)
    brokers[2].leaders = '2,2,3'
    await asked(brokers[1])
    expect(await isMoved(sending)).to.equal(true)
  })

  it('does not wait for a silent broker', async () => {
    brokers[0].ask = () => new Promise(() => undefined)
    const sending = watch.watch('visits')
    await asked(brokers[1])
    for (const broker of brokers) broker.leaders = '2,2,3'
    await asked(brokers[1])
    expect(await isMoved(sending)).to.equal(true)
  })

  it('counts how often others were found to lead', async () => {
    const { end } = watch.watch('visits')
    await asked(brokers[1])
    expect(watch.changes).to.equal(0)
    for (const broker of brokers) broker.leaders = '2,2,3'
    await asked(brokers[1])
    expect(watch.changes).to.equal(1)
    end()
  })

  it('knows, for a retry that follows at once, what was answered before it began', async () => {
    const first = watch.watch('visits')
    await asked(brokers[1])
    first.end()
    const second = watch.watch('visits')
    for (const broker of brokers) broker.leaders = '3,2,3'
    await asked(brokers[1])
    expect(await isMoved(second)).to.equal(true)
    const third = watch.watch('visits')
    await asked(brokers[1])
    expect(await isMoved(third)).to.equal(false)
  })

  it('stops asking the brokers when sends succeed again', async () => {
    const { end } = watch.watch('visits')
    await asked(brokers[1])
    end()
    while (brokers[1].rests === 0) await wait(10)
    const before = brokers[1].asked
    const next = watch.watch('visits')
    await wait(SLOW_MS / 3)
    next.end()
    expect(brokers[1].asked).to.equal(before)
  })
})
