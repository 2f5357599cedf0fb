/**
 * Questions to one broker only. Requests of kafkajs go through brokers of its own choice, silent ones included, and an error of one
 * partition hides what the broker says about all others.
 */

import type { Kafka, KafkaMessage } from 'kafkajs'

import { inner } from '../patches.ts'
import { within } from '../../../../common/deadline.ts'
import type { StoredEntry } from '../../event-log.ts'
import { brokerAnswered, brokerWasSilent } from '../brokers.ts'
import { kafkaClient, QUESTION_MS, storedEntry } from '../client.ts'
import type { KafkaSettings } from '../url.ts'

/** What one broker believes of the cluster. A broker that was stopped believes what it did before, for a while. */
export interface BrokerView {
  readonly brokers: readonly { readonly nodeId: number; readonly address: string }[]
  /** By the topic's name on the brokers. */
  readonly topics: ReadonlyMap<string, readonly LedPartition[]>
}

export interface LedPartition {
  readonly partition: number
  /** The leader's node ID; null if it has none. */
  readonly leader: number | null
}

/** `end` is after the newest entry, `low` the oldest one that is kept. */
export interface PartitionBounds {
  readonly low: number
  readonly end: number
}

export interface BrokerLine {
  /** Rejects if the broker gives no answer in time. */
  view(topicNames: readonly string[]): Promise<BrokerView>
  /** Partitions that this broker does not lead, by its own word, are absent. Rejects if it gives no answer in time. */
  bounds(topicName: string, partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionBounds>>
  /**
   * Entries of a partition that this broker leads, from an offset on, in order: as many as about a megabyte holds, and at least one
   * if there is any. Rejects if it gives no answer in time, or does not lead the partition.
   */
  entries(
    topicName: string,
    place: { readonly partition: number; readonly from: number },
  ): Promise<readonly StoredEntry[]>
  /** Closes its connection; the next question opens a new one. */
  rest(): void
}

interface LoneBroker {
  readonly connectionPool: { send(request: Protocol): Promise<unknown> }
  lookupRequest(apiKey: number, definition: unknown): (fields: object) => Protocol
}

interface Protocol {
  readonly request: unknown
  readonly response: { readonly decode: unknown; readonly parse: unknown }
}

/** A private part of kafkajs. */
interface Cluster {
  readonly brokerPool: { readonly seedBroker: LoneBroker }
  connect(): Promise<void>
  disconnect(): Promise<void>
}

type CreateCluster = (options: { readonly allowAutoTopicCreation: boolean }) => Cluster

interface MetadataAnswer {
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[]
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number
    readonly topic: string
    readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[]
  }[]
}

interface OffsetsAnswer {
  readonly responses: readonly {
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number; readonly offset: string }[]
  }[]
}

interface FetchAnswer {
  readonly responses: readonly {
    readonly partitions: readonly { readonly errorCode: number; readonly messages: readonly KafkaMessage[] }[]
  }[]
}

const CREATE_CLUSTER = 'private:Kafka:createCluster'
/** Keys of requests in Kafka's protocol. */
const KEYS = { Fetch: 1, ListOffsets: 2, Metadata: 3 } as const
/** What stands for a time in a request for offsets, and the replica that every client is. */
const NEWEST = '-1'
const OLDEST = '-2'
const NO_REPLICA = -1
const ANSWER_MS = 1_000
const FETCH_BYTES = 1024 * 1024
/** How long a broker that gave no answer is not asked again, since the others' answers would wait for it. */
const SPARED_MS = 3_000

/** Throws if a TLS file cannot be read. */
export function brokerLine(settings: KafkaSettings, address: string): BrokerLine {
  const kafka = kafkaClient({ ...settings, brokers: [address] }, { requestMs: QUESTION_MS })
  let opened: Promise<Cluster> | null = null
  let sparedUntilMs = Number.NEGATIVE_INFINITY
  const open = async (): Promise<Cluster> => {
    const cluster = clusterOf(kafka)
    await cluster.connect()
    return cluster
  }
  const rest = (): void => {
    void opened?.then((cluster) => cluster.disconnect()).catch(() => undefined)
    opened = null
  }
  const ask = async <T>(question: (broker: LoneBroker) => Promise<T>): Promise<T> => {
    if (performance.now() < sparedUntilMs) throw new Error(`${address} was silent a moment ago`)
    opened ??= open()
    try {
      const answer = await within(
        opened.then((cluster) => question(cluster.brokerPool.seedBroker)),
        ANSWER_MS,
      )
      brokerAnswered(address)
      return answer
    } catch (error) {
      brokerWasSilent(address)
      sparedUntilMs = performance.now() + SPARED_MS
      rest()
      throw error
    }
  }
  return {
    view: (topicNames) => ask((broker) => askView(broker, topicNames)),
    bounds: (topicName, partitions) => ask((broker) => askBounds(broker, topicName, partitions)),
    entries: (topicName, place) => ask((broker) => askEntries(broker, topicName, place)),
    rest,
  }
}

async function askView(broker: LoneBroker, topicNames: readonly string[]): Promise<BrokerView> {
  const fields = { topics: topicNames, allowAutoTopicCreation: false }
  const answer = await sendRaw(broker, 'Metadata', fields)
  return {
    brokers: answer.brokers.map(({ nodeId, host, port }) => ({ nodeId, address: `${host}:${port}` })),
    topics: new Map(
      answer.topicMetadata
        .filter(({ topicErrorCode }) => topicErrorCode === 0)
        .map(({ topic, partitionMetadata }) => [topic, partitionMetadata.map(ledPartition)]),
    ),
  }
}

function ledPartition({
  partitionId,
  leader,
}: MetadataAnswer['topicMetadata'][number]['partitionMetadata'][number]): LedPartition {
  return { partition: partitionId, leader: leader < 0 ? null : leader }
}

async function askBounds(
  broker: LoneBroker,
  topicName: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, PartitionBounds>> {
  const [lows, ends] = await Promise.all(
    [OLDEST, NEWEST].map((time) => askOffsets(broker, topicName, { partitions, time })),
  )
  const bounds = new Map<number, PartitionBounds>()
  for (const [partition, end] of ends ?? []) {
    const low = lows?.get(partition)
    if (low !== undefined) bounds.set(partition, { low, end })
  }
  return bounds
}

async function askOffsets(
  broker: LoneBroker,
  topic: string,
  { partitions, time }: { readonly partitions: readonly number[]; readonly time: string | undefined },
): Promise<ReadonlyMap<number, number>> {
  const asked = partitions.map((partition) => ({ partition, timestamp: time }))
  const fields = { replicaId: NO_REPLICA, isolationLevel: 0, topics: [{ topic, partitions: asked }] }
  const { responses } = await sendRaw(broker, 'ListOffsets', fields)
  const led = responses.flatMap((response) => response.partitions).filter(({ errorCode }) => errorCode === 0)
  return new Map(led.map(({ partition, offset }) => [partition, Number(offset)]))
}

async function askEntries(
  broker: LoneBroker,
  topic: string,
  { partition, from }: { readonly partition: number; readonly from: number },
): Promise<readonly StoredEntry[]> {
  const asked = { partition, fetchOffset: String(from), maxBytes: FETCH_BYTES }
  const bounds = { maxWaitTime: 0, minBytes: 1, maxBytes: FETCH_BYTES, isolationLevel: 0, rackId: '' }
  const fields = { replicaId: NO_REPLICA, ...bounds, topics: [{ topic, partitions: [asked] }] }
  const { responses } = await sendRaw(broker, 'Fetch', fields)
  const [found] = responses.flatMap(({ partitions }) => partitions)
  if (found === undefined || found.errorCode !== 0) throw new Error(`no entries: ${found?.errorCode ?? 'no partition'}`)
  // A broker gives whole batches, which may begin before the offset.
  return found.messages.map(storedEntry).filter(({ offset }) => offset >= from)
}

/** What kafkajs decodes an answer to. */
interface Answers {
  readonly Metadata: MetadataAnswer
  readonly ListOffsets: OffsetsAnswer
  readonly Fetch: FetchAnswer
}

/** The answer as the broker gave it, with the errors in it. */
async function sendRaw<Name extends keyof Answers>(
  broker: LoneBroker,
  name: Name,
  fields: object,
): Promise<Answers[Name]> {
  const { requests } = inner('protocol/requests')
  const protocol = broker.lookupRequest(KEYS[name], requests[name])(fields)
  const response = { ...protocol.response, parse: async (decoded: unknown) => decoded }
  const answer = await broker.connectionPool.send({ ...protocol, response })
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- kafkajs declares no types of its inner parts
  return answer as Answers[Name]
}

function clusterOf(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === CREATE_CLUSTER)
  const create: unknown = symbol === undefined ? undefined : Reflect.get(kafka, symbol)
  if (typeof create !== 'function') throw new Error('kafkajs is not the version that this service was made for')
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- kafkajs declares no types of its inner parts
  return (create as CreateCluster)({ allowAutoTopicCreation: false })
}
