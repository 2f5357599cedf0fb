/** A real Kafka, a real Redis and the ClickHouse fixture on free loopback ports, with topics and tables in place. */

import { checkKafkaTopics } from '../../ports/event-log/kafka/kafka.ts'
import { parseKafkaUrl, type KafkaSettings } from '../../ports/event-log/kafka/url.ts'
import { openClickHouse } from '../../ports/facts/engine/connect-server.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { startClickHouse, type ClickHouseServer } from './clickhouse-server.ts'
import { startKafka, type KafkaBroker } from './kafka.ts'
import { startKafkaCluster, type ClusterBroker, type KafkaCluster } from './kafka-cluster.ts'
import type { Links } from './toxiproxy.ts'
import { startRedis, type RedisServer } from './redis.ts'

export type EngineEnv = Readonly<Record<'WHENCE_EVENT_LOG' | 'WHENCE_HOT_STATE' | 'WHENCE_FACTS', string>>

/** The processes' address of Kafka, and what a test can do to it. */
export type EngineKafka = Pick<
  KafkaBroker,
  'plain' | 'linked' | 'folder' | 'pause' | 'resume' | 'kill' | 'restart' | 'stop'
>

export interface Engines {
  readonly kafka: EngineKafka
  /** Its brokers one by one, if there are three. */
  readonly cluster: KafkaCluster | null
  readonly redis: RedisServer
  readonly clickhouse: ClickHouseServer
  /** Of the whole broker, without any proxy before it. */
  readonly kafkaSettings: KafkaSettings
  /** A connection of the test's own, for looking and for statements. */
  readonly connection: FactsConnection
  /** A connection to a database that is there whatever becomes of this one's. */
  readonly root: FactsConnection
  /** The settings that name these engines, as environment variables. */
  readonly env: EngineEnv
  /** The same without links. */
  readonly ownEnv: EngineEnv
  readonly stop: () => Promise<void>
}

export interface EnginesOptions {
  /** Folder of Kafka's jars, from `kafkaJars`. */
  readonly jars: string
  /** Called with what is being started. */
  readonly onProgress?: (what: string) => void
  /** Lines of `redis.conf`. */
  readonly redisSettings?: readonly string[]
  readonly isDetached?: boolean
  /** Of each topic; 2 without it. */
  readonly partitions?: number
  /** Three brokers that keep everything three times, instead of one; its links go to ClickHouse only. */
  readonly isCluster?: boolean
  /** Everything but the test's own connections goes through these: links `kafka` and `clickhouse`. */
  readonly links?: Links
}

/** If starting one fails, those before it are ended. */
export async function startEngines(options: EnginesOptions): Promise<Engines> {
  const { onProgress: say = () => undefined, isDetached = false, isCluster = false, partitions = 2, links } = options
  const closers: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  const keep = <T>(part: T, close: (part: T) => Promise<unknown>): T => {
    closers.push(() => close(part))
    return part
  }
  try {
    say(isCluster ? 'three Kafka brokers' : 'a Kafka broker (one node)')
    const cluster = isCluster ? await startKafkaCluster(options.jars, { isDetached }) : null
    const kafka = keep(cluster === null ? await oneBroker(options) : wholeOf(cluster), (all) => all.stop())
    say('Redis')
    const redis = keep(await startRedis({ isDetached, settings: options.redisSettings ?? [] }), (server) =>
      server.stop(),
    )
    say('ClickHouse (its engine behind an HTTP fixture)')
    const clickhouse = keep(await startClickHouse({ database: 'whence', isDetached }), (server) => server.stop())
    say('topics and tables')
    const query = `${isCluster ? '' : 'replication=1&min-in-sync=1&unsafe=allow&'}partitions=${partitions}`
    const own = {
      WHENCE_EVENT_LOG: `kafka://${kafka.plain}?${query}`,
      WHENCE_HOT_STATE: redis.url,
      WHENCE_FACTS: clickhouse.url,
    }
    const port = Number(new URL(clickhouse.url).port)
    const linkedPort = links === undefined ? port : await links.add('clickhouse', port)
    const env = {
      ...own,
      WHENCE_EVENT_LOG: `kafka://${kafka.linked}?${query}`,
      WHENCE_FACTS: clickhouse.url.replace(`:${port}/`, `:${linkedPort}/`),
    }
    const place = await migratePlace(own, env)
    keep(place.connection, (opened) => opened.close())
    return { kafka, cluster, redis, clickhouse, ...place, root: place.connection, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function oneBroker({ jars, isDetached = false, links }: EnginesOptions): Promise<KafkaBroker> {
  const linkTo = links === undefined ? {} : { linkTo: (port: number) => links.add('kafka', port) }
  return startKafka(jars, { isDetached, ...linkTo })
}

function wholeOf(cluster: KafkaCluster): EngineKafka {
  const { addresses, brokers, folder } = cluster
  const each = async (act: (broker: ClusterBroker) => Promise<void>): Promise<void> =>
    void (await Promise.all(brokers.map(act)))
  return {
    plain: addresses,
    linked: addresses,
    folder,
    pause: () => brokers.forEach((broker) => broker.pause()),
    resume: () => brokers.forEach((broker) => broker.resume()),
    kill: () => each((broker) => broker.kill()),
    restart: () => each((broker) => broker.restart()),
    stop: () => cluster.stop(),
  }
}

/**
 * A service's own place on engines that run: topics with a prefix, a Redis database and a ClickHouse database of their
 * own. `stop` ends nothing but its connection.
 */
export async function placeIn(engines: Engines, number: number): Promise<Engines> {
  await engines.root.command(`CREATE DATABASE place_${number}`)
  const within = (env: EngineEnv): EngineEnv => ({
    WHENCE_EVENT_LOG: `${env.WHENCE_EVENT_LOG}&prefix=place-${number}.`,
    WHENCE_HOT_STATE: env.WHENCE_HOT_STATE.replace(/\/0$/, `/${number}`),
    WHENCE_FACTS: env.WHENCE_FACTS.replace(/\/\w+$/, `/place_${number}`),
  })
  const place = await migratePlace(within(engines.ownEnv), within(engines.env))
  return { ...engines, ...place, stop: () => place.connection.close() }
}

type Place = Pick<Engines, 'env' | 'ownEnv' | 'kafkaSettings' | 'connection'>

async function migratePlace(ownEnv: EngineEnv, env: EngineEnv): Promise<Place> {
  const kafkaSettings = settingsOf(ownEnv.WHENCE_EVENT_LOG)
  await checkKafkaTopics(kafkaSettings, { canCreate: true })
  const connection = openClickHouse(ownEnv.WHENCE_FACTS)
  try {
    await migrate(connection)
    return { env, ownEnv, kafkaSettings, connection }
  } catch (error) {
    await connection.close()
    throw error
  }
}

function settingsOf(url: string): KafkaSettings {
  const parsed = parseKafkaUrl(url)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  return parsed.value
}
