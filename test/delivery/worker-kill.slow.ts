/** A worker that is killed under load loses no delivery and repeats only what was in flight, on either engine. */

import { expect } from 'chai'

import { ALL_TOPICS } from '../../ports/event-log/kafka/topic-groups.ts'
import { createTopics, kafkaSettings } from '../contract/kafka-harness.ts'
import { kafkaJars, startKafka, type KafkaBroker } from '../../fixtures/engines/kafka.ts'
import { killUnderLoad, type KillResult } from './support/kill-load.ts'

/** Requests that one destination may have under way at once. */
const IN_FLIGHT = 8

const DELIVERY_TOPICS = ALL_TOPICS.filter((topic) =>
  ['deliver.ga4', 'deliver.meta', 'deliveries', 'activity', 'dead-letters'].some((name) => topic.startsWith(name)),
)

function expectWhole({ jobIds, arrived, delivered, faults }: KillResult, kills: number): void {
  for (const provider of ['ga4', 'meta'] as const) {
    // Every attempt of one delivery carries its ID: nothing arrived under another.
    expect([...new Set(arrived[provider].flat())]).to.have.members(jobIds[provider])
    expect(repeats(arrived[provider])).to.be.at.most(kills * IN_FLIGHT)
  }
  expect([...delivered]).to.have.members([...jobIds.ga4, ...jobIds.meta])
  expect(faults).to.deep.equal([])
}

/** Requests that held a delivery which an earlier one had held. */
function repeats(requests: readonly (readonly string[])[]): number {
  const seen = new Set<string>()
  let count = 0
  for (const ids of requests) {
    if (ids.some((id) => seen.has(id))) count += 1
    for (const id of ids) seen.add(id)
  }
  return count
}

describe('workers killed with kill -9 under load', () => {
  it('deliver every job under one ID, and repeat at most the requests in flight, 20 times over', async () => {
    expectWhole(await killUnderLoad({ kills: 20, jobsPerStart: 40, kafkaUrl: null }), 20)
  }).timeout(300_000)

  describe('on Kafka', () => {
    let broker: KafkaBroker

    before(async function () {
      this.timeout(400_000)
      const jars = await kafkaJars()
      if (jars === null) return this.skip()
      broker = await startKafka(jars)
    })
    after(async () => {
      await broker?.stop()
    })

    it('do the same', async () => {
      const settings = kafkaSettings(broker)
      await createTopics(settings, DELIVERY_TOPICS)
      const kafkaUrl = `kafka://${broker.plain}?prefix=${settings.prefix}&partitions=1&replication=1`
      expectWhole(await killUnderLoad({ kills: 2, jobsPerStart: 40, kafkaUrl }), 2)
    }).timeout(240_000)
  })
})
