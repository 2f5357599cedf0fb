/** Opens logs on a real Kafka broker for the contract suite and the adapter's own tests. */

import type { Topic } from '../../domain/records.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import type { KafkaEventLogOptions } from '../../ports/event-log/kafka/options.ts'
import { checkKafkaTopics, kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import type { KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka/url.ts'

import type { EventLogBounds, EventLogHarness } from './event-log.contract.ts'
import type { KafkaBroker } from '../../fixtures/engines/kafka.ts'

/** Short ones: a rebalance takes as long as members take to notice it. */
const QUICK: KafkaEventLogOptions = {
  pace: { retryMs: { first: 1, most: 20 }, recheckMs: 20 },
  membership: { sessionMs: 3_000, heartbeatMs: 20, fetchWaitMs: 20 },
}

let nextPrefix = 0

/** Settings with a prefix of their own, so that every test has topics of its own on one broker. */
export function kafkaSettings(broker: KafkaBroker, query = 'partitions=1&replication=1'): KafkaSettings {
  const parsed = parseKafkaUrl(`kafka://${broker.plain}?prefix=t${nextPrefix++}.&${query}`)
  if (!parsed.ok) throw new Error(parsed.why)
  return parsed.value
}

export async function openKafka(settings: KafkaSettings, options: KafkaEventLogOptions = {}): Promise<EventLog> {
  return kafkaEventLog(settings, { ...QUICK, ...options, pace: { ...QUICK.pace, ...options.pace } })
}

function bounded({ inHandMs, ...bounds }: EventLogBounds): KafkaEventLogOptions {
  return { bounds, ...(inHandMs === undefined ? {} : { pace: { inHandMs } }) }
}

export async function createTopics(settings: KafkaSettings, topics: readonly Topic[]): Promise<void> {
  await checkKafkaTopics(settings, { create: 'all', topics })
}

export async function kafkaHarness(broker: KafkaBroker, bounds: EventLogBounds): Promise<EventLogHarness> {
  const settings = kafkaSettings(broker)
  await createTopics(settings, ['visits', 'installs'])
  let log = await openKafka(settings, bounded(bounds))
  return {
    get log() {
      return log
    },
    nowMs: Date.now,
    advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    reopen: async () => {
      await log.close()
      log = await openKafka(settings, bounded(bounds))
    },
    stall: async () => {
      broker.pause()
      return async () => broker.resume()
    },
    close: () => log.close(),
  }
}
