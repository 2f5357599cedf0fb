/** What the log says of a topic while one of three Kafka brokers hangs and goes on. */

import { expect } from 'chai'

import { hasReached, type Offsets } from '../../domain/collection/facts-lag.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { LogUnavailable } from '../../ports/event-log/event-log.ts'
import { openTopicBounds, type TopicBounds } from '../../ports/event-log/kafka/questions/topic-bounds.ts'
import { parseKafkaUrl, type KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import { startKafkaCluster, type KafkaCluster } from '../../fixtures/engines/kafka-cluster.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { until } from '../../fixtures/until.ts'
import { createTopics, openKafka } from './kafka-harness.ts'

const PARTITIONS = 6

describe('the ends of a topic on three Kafka brokers', function () {
  this.timeout(180_000)
  let cluster: KafkaCluster
  let settings: KafkaSettings
  let log: EventLog
  let bounds: TopicBounds

  before(async function () {
    const jars = await kafkaJars()
    if (jars === null) return this.skip()
    cluster = await startKafkaCluster(jars)
    const parsed = parseKafkaUrl(`kafka://${cluster.addresses}?prefix=t.&partitions=${PARTITIONS}&replication=3`)
    if (!parsed.ok) throw new Error(parsed.why)
    settings = parsed.value
    await createTopics(settings, ['activations'])
    log = await openKafka(settings)
    bounds = openTopicBounds(settings)
  })
  after(async () => {
    await log?.close()
    bounds?.close()
    await cluster?.stop()
  })

  const ends = async (): Promise<Offsets> => (await bounds.of('t.activations')).map((known) => known && known.end)
  const append = async (value: string): Promise<void> => {
    await until(async () => {
      try {
        await log.append('activations', [{ key: value, value }], { deadlineMs: 500 })
        return true
      } catch (error) {
        if (error instanceof LogUnavailable) return false
        throw error
      }
    })
  }
  const sum = (offsets: Offsets): number => offsets.reduce<number>((total, offset) => total + (offset ?? 0), 0)

  it('are unknown for a hanging leader, then those of the next one, and never go back when it goes on', async () => {
    for (let number = 0; number < 30; number++) await append(`before ${number}`)
    const before = await ends()
    expect(before.length).to.equal(PARTITIONS)
    // An append that was tried again on a busy machine may stand there twice.
    expect(sum(before)).to.be.at.least(30)
    const leader = await cluster.leaderOf('t.activations')
    leader.pause()
    const during = await ends()
    expect(during.length).to.equal(PARTITIONS)
    expect(during[0]).to.equal(null)
    expect(during.some((end) => end !== null)).to.equal(true)
    expect(hasReached(before, during)).to.equal(false)
    // Each entry that is acknowledged from now on is below the ends, or its partition is unknown.
    let acknowledged = 30
    for (; acknowledged < 60; acknowledged++) await append(`during ${acknowledged}`)
    await until(async () => (await ends()).every((end) => end !== null))
    const known = await ends()
    expect(sum(known)).to.be.at.least(acknowledged)
    leader.resume()
    for (let look = 0; look < 50; look++)
      for (const [partition, end] of (await ends()).entries())
        if (end !== null) expect(end, `partition ${partition}`).to.be.at.least(known[partition] ?? 0)
    await cluster.heal()
  })
})
