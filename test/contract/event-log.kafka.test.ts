/** The EventLog contract on a real Kafka broker. */

import type { KafkaBroker } from '../support/kafka.ts'
import { kafkaJars, startKafka } from '../support/kafka.ts'

import { eventLogContract } from './event-log.contract.ts'
import { kafkaHarness } from './kafka-harness.ts'

describe('Kafka', () => {
  let broker: KafkaBroker | null = null

  before(async function () {
    this.timeout(400_000)
    const jars = await kafkaJars()
    if (jars === null) return this.skip()
    broker = await startKafka(jars)
  })
  after(async () => {
    await broker?.stop()
  })

  eventLogContract('Kafka', (bounds = {}) => kafkaHarness(broker!, bounds))
})
