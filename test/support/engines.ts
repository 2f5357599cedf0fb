/** A real Kafka, a real Redis and the ClickHouse fixture on free loopback ports, with topics and tables in place. */

import { checkKafkaTopics } from '../../ports/event-log/kafka.ts'
import { parseKafkaUrl, type KafkaSettings } from '../../ports/event-log/kafka-url.ts'
import { openClickHouse } from '../../ports/facts/connect-server.ts'
import type { FactsConnection } from '../../ports/facts/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { startClickHouse, type ClickHouseServer } from './clickhouse-server.ts'
import { startKafka, type KafkaBroker } from './kafka.ts'
import { startRedis, type RedisServer } from './redis.ts'

export interface Engines {
  readonly kafka: KafkaBroker
  readonly redis: RedisServer
  readonly clickhouse: ClickHouseServer
  /** Of the whole broker, without any proxy before it. */
  readonly kafkaSettings: KafkaSettings
  /** A connection of the test's own, for looking and for statements. */
  readonly connection: FactsConnection
  /** The settings that name these engines, as environment variables. */
  readonly env: Readonly<Record<'WHENCE_EVENT_LOG' | 'WHENCE_HOT_STATE' | 'WHENCE_FACTS', string>>
  readonly stop: () => Promise<void>
}

export interface EnginesOptions {
  /** Folder of Kafka's jars, from `kafkaJars`. */
  readonly jars: string
  /** Told what is being started. */
  readonly onProgress?: (what: string) => void
  /** Lines of `redis.conf`. */
  readonly redisSettings?: readonly string[]
  readonly isDetached?: boolean
  /** Of each topic; 2 without it. */
  readonly partitions?: number
}

/** Where starting one fails, those before it are ended. */
export async function startEngines(options: EnginesOptions): Promise<Engines> {
  const { onProgress: say = () => undefined, isDetached = false, partitions = 2 } = options
  const closers: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  const keep = <T>(part: T, close: (part: T) => Promise<unknown>): T => {
    closers.push(() => close(part))
    return part
  }
  try {
    say('a Kafka broker (one node)')
    const kafka = keep(await startKafka(options.jars, { isDetached }), (broker) => broker.stop())
    say('Redis')
    const redis = keep(await startRedis({ isDetached, settings: options.redisSettings ?? [] }), (server) =>
      server.stop(),
    )
    say('ClickHouse (its engine behind an HTTP fixture)')
    const clickhouse = keep(await startClickHouse({ database: 'whence', isDetached }), (server) => server.stop())
    const eventLog = `kafka://${kafka.plain}?replication=1&min-in-sync=1&partitions=${partitions}&unsafe=allow`
    const kafkaSettings = settingsOf(eventLog)
    const connection = keep(openClickHouse(clickhouse.url), (opened) => opened.close())
    say('topics and tables')
    await checkKafkaTopics(kafkaSettings, { canCreate: true })
    await migrate(connection)
    const env = { WHENCE_EVENT_LOG: eventLog, WHENCE_HOT_STATE: redis.url, WHENCE_FACTS: clickhouse.url }
    return { kafka, redis, clickhouse, kafkaSettings, connection, env, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function settingsOf(url: string): KafkaSettings {
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  return parsed.value
}
