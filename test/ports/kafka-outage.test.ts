/** What a process does about a Kafka that stores nothing for long: a new client, then a look whether only a new process helps. */

import { expect } from 'chai'
import type { Kafka } from 'kafkajs'

import type { Topic } from '../../domain/records.ts'
import { KafkaAppendQueue } from '../../ports/event-log/kafka/appends.ts'
import type { LeaderWatch } from '../../ports/event-log/kafka/questions/leaders.ts'
import { Outage, OUTAGE_TIMES, type NextTry } from '../../ports/event-log/kafka/outage.ts'
import { KafkaSender } from '../../ports/event-log/kafka/producer.ts'
import { until } from '../../fixtures/until.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

describe('an outage of a topic', () => {
  /** The steps that differ from another try, by the second of a failure each second. */
  const stepsOf = (
    outage: Outage,
    seconds: number,
    onFresh: () => void = () => outage.freshFailed(),
  ): Record<number, NextTry> => {
    const steps: Record<number, NextTry> = {}
    for (let second = 0; second <= seconds; second++) {
      const step = outage.failed(second * SECOND_MS)
      if (step !== 'again') steps[second] = step
      if (step === 'fresh') onFresh()
    }
    return steps
  }

  it('gets a new client after a minute, and each minute', () => {
    const outage = new Outage(OUTAGE_TIMES)
    outage.stored()
    expect(stepsOf(outage, 200)).to.deep.equal({ 60: 'renew', 120: 'renew', 180: 'renew' })
  })

  it('gets fresh connections after five minutes, one in ten seconds', () => {
    const outage = new Outage(OUTAGE_TIMES)
    outage.stored()
    const steps = stepsOf(outage, 330)
    expect(
      Object.entries(steps)
        .filter(([, step]) => step === 'fresh')
        .map(([second]) => Number(second)),
    ).to.deep.equal([300, 310, 320, 330])
  })

  it('gets none in a process that was started in it, however long it lasts', () => {
    const outage = new Outage(OUTAGE_TIMES)
    expect(Object.values(stepsOf(outage, 1_000))).to.not.include('fresh')
  })

  it('is over once something is stored', () => {
    const outage = new Outage(OUTAGE_TIMES)
    outage.stored()
    stepsOf(outage, 299)
    outage.stored()
    expect(outage.failed(300 * SECOND_MS)).to.equal('again')
    expect(outage.failed(359 * SECOND_MS)).to.equal('again')
    expect(outage.failed(360 * SECOND_MS)).to.equal('renew')
  })

  it('needs a new process only if a fresh connection stores twice what its own cannot', () => {
    const outage = new Outage(OUTAGE_TIMES)
    outage.stored()
    stepsOf(outage, 299)
    expect(outage.failed(5 * MINUTE_MS)).to.equal('fresh')
    expect(outage.freshStored()).to.equal(false)
    // At once: it is not yet known whether Kafka came back in between.
    expect(outage.failed(5 * MINUTE_MS + 1)).to.equal('fresh')
    expect(outage.freshStored()).to.equal(true)
  })

  for (const [what, between] of [
    ['the own client stores again', (outage: Outage) => outage.stored()],
    ['the next fresh connection stores nothing either', (outage: Outage) => outage.freshFailed()],
  ] as const)
    it(`needs none if ${what}`, () => {
      const outage = new Outage(OUTAGE_TIMES)
      outage.stored()
      outage.failed(0)
      outage.failed(5 * MINUTE_MS)
      outage.freshStored()
      between(outage)
      expect(outage.freshStored()).to.equal(false)
    })
})

describe('a sender to Kafka in an outage', () => {
  const SETTLED: LeaderWatch = {
    changes: 0,
    watch: () => ({ moved: new Promise(() => undefined), end: () => undefined }),
    close: () => undefined,
  }

  /** `works` says of each client, in the order in which they were made, whether it can store. */
  const senderWith = (
    works: (client: number) => boolean,
    outageTimes: { renewMs: number; restartMs: number; freshEveryMs: number },
  ) => {
    const queue = new KafkaAppendQueue({ maxBytes: 1_000_000, maxEntries: 100, batchBytes: 100_000 })
    const broken: Error[] = []
    const sends: number[] = []
    let clients = 0
    const newClient = (): Kafka => {
      const client = clients++
      const send = async () => {
        sends.push(client)
        if (!works(client)) throw new Error('away')
        return [{ errorCode: 0 }]
      }
      return {
        producer: () => ({ connect: async () => undefined, disconnect: async () => undefined, send }),
      } as unknown as Kafka
    }
    const sender = new KafkaSender(newClient, queue, {
      topicName: (topic: Topic) => topic,
      nowMs: Date.now,
      times: { lingerMs: 0, requestMs: 60_000, outage: outageTimes },
      leaders: SETTLED,
      news: { onSent: () => undefined, onFailure: () => undefined, onBroken: (error) => void broken.push(error) },
    })
    const append = (): Promise<void> => {
      const appended = queue.add('visits', [{ key: 'k', value: 'v' }], { deadlineMs: 60_000, patienceMs: 60_000 })
      sender.request('visits')
      return appended
    }
    return { sender, append, broken, sends, clients: () => clients }
  }

  it('makes its client anew, and stores by that one what waits', async () => {
    let isAway = false
    const { sender, append, clients, broken } = senderWith((client) => !isAway || client > 0, {
      renewMs: 1,
      restartMs: 60_000,
      freshEveryMs: 1,
    })
    await append()
    isAway = true
    await append()
    expect(clients()).to.equal(2)
    await append()
    expect([clients(), broken]).to.deep.equal([2, []])
    await sender.close()
  })

  it('says once that only a new process helps, and stores meanwhile what fresh connections take', async () => {
    let isAway = false
    // Client 0 is its own; renewals are far away, so that all others are fresh ones.
    const { sender, append, broken } = senderWith((client) => !isAway || client > 0, {
      renewMs: 60_000,
      restartMs: 0,
      freshEveryMs: 0,
    })
    await append()
    isAway = true
    await append()
    expect(broken).to.deep.equal([])
    await append()
    expect(broken.map(({ message }) => message)).to.deep.equal(['Kafka stores what a fresh connection sends'])
    await append()
    expect(broken.length).to.equal(1)
    await sender.close()
  })

  it('says nothing while fresh connections store nothing either', async () => {
    let isAway = false
    const { sender, append, broken, sends, clients } = senderWith(() => !isAway, {
      renewMs: 60_000,
      restartMs: 0,
      freshEveryMs: 0,
    })
    await append()
    isAway = true
    const waiting = append()
    await until(() => clients() > 3)
    isAway = false
    await waiting
    expect(broken).to.deep.equal([])
    expect(new Set(sends).size).to.equal(clients())
    await sender.close()
  })
})
