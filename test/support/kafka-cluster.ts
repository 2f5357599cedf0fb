/**
 * Starts a real Kafka cluster of three brokers (KRaft, each also a controller) on free loopback ports, which can be killed,
 * stopped and restarted one by one. Everything is kept three times and acknowledged by two, as Whence asks for by default.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import kafkajs, { type Admin } from 'kafkajs'

import { mendKafkajs } from '../../ports/event-log/kafka/patches.ts'
import { freePorts } from './free-port.ts'
import { formatBroker, startBroker, type BrokerPlan, type BrokerProcess } from './kafka-process.ts'

/** All three take about a gigabyte. */
const HEAP_MEGABYTES = 256
const NODE_IDS = [1, 2, 3] as const
const POSITIONS_TOPIC = '__consumer_offsets'
const POSITIONS_PARTITIONS = 3
const SETTLE_MS = 90_000
const POLL_MS = 200

export interface ClusterBroker extends BrokerProcess {
  readonly nodeId: number
  /** `host:port` without authentication. */
  readonly address: string
}

export interface KafkaCluster {
  /** Holds the data of all brokers, each in a folder of its own. */
  readonly folder: string
  readonly brokers: readonly ClusterBroker[]
  /** `host:port` of every broker, separated by commas, as a `kafka:` URL has them. */
  readonly addresses: string
  /** The broker that leads a partition of a topic, by the topic's name on the brokers. */
  leaderOf(topicName: string, partition?: number): Promise<ClusterBroker>
  /** The broker that coordinates a consumer group, by its ID on the brokers. A group must have been there before. */
  coordinatorOf(groupId: string): Promise<ClusterBroker>
  /** Continues what is stopped, starts what is dead, and resolves when every copy of every partition is in step. */
  heal(): Promise<void>
  /** Ends all and deletes their data. */
  stop(): Promise<void>
}

export interface ClusterOptions {
  /** Their own process groups: Ctrl-C in a terminal reaches only the process that started them. */
  readonly isDetached?: boolean
}

/** `jars` is the folder from `kafkaJars`. */
export async function startKafkaCluster(jars: string, options: ClusterOptions = {}): Promise<KafkaCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-kafka-cluster-'))
  const brokers: ClusterBroker[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(brokers.map((broker) => broker.kill()))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const places = await makePlaces(folder, jars, options.isDetached ?? false)
    await Promise.all(
      places.map(async ({ plan, controller }) => formatBroker(plan, properties({ plan, controller }, places), [])),
    )
    // None takes requests before two are there.
    const starting = places.map(async ({ plan }) => {
      const broker = await startBroker(plan)
      brokers.push({ ...broker, nodeId: plan.nodeId, address: `127.0.0.1:${plan.port}` })
    })
    const failed = (await Promise.allSettled(starting)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    brokers.sort((left, right) => left.nodeId - right.nodeId)
    return { ...clusterOf(brokers), folder, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function clusterOf(brokers: readonly ClusterBroker[]): Omit<KafkaCluster, 'stop' | 'folder'> {
  const leaderOf = async (topicName: string, partition = 0): Promise<ClusterBroker> => {
    const topic = (await partitionsOf(brokers, [topicName])).find(({ name }) => name === topicName)
    const leader = topic?.partitions.find(({ partitionId }) => partitionId === partition)?.leader
    const broker = brokers.find(({ nodeId }) => nodeId === leader)
    if (broker === undefined) throw new Error(`nobody leads partition ${partition} of ${topicName}`)
    return broker
  }
  return {
    brokers,
    addresses: brokers.map(({ address }) => address).join(),
    leaderOf,
    coordinatorOf: (groupId) => leaderOf(POSITIONS_TOPIC, javaHash(groupId) % POSITIONS_PARTITIONS),
    heal: async () => {
      for (const broker of brokers) if (broker.isRunning()) broker.resume()
      await Promise.all(brokers.filter((broker) => !broker.isRunning()).map((broker) => broker.restart()))
      await untilInStep(brokers)
    },
  }
}

interface Place {
  readonly plan: BrokerPlan
  readonly controller: number
}

async function makePlaces(folder: string, jars: string, isDetached: boolean): Promise<readonly Place[]> {
  const ports = await freePorts(NODE_IDS.length * 2)
  return NODE_IDS.map((nodeId, index) => {
    const [port = 0, controller = 0] = ports.slice(index * 2)
    const own = { folder: join(folder, `broker-${nodeId}`), nodeId, port }
    return { plan: { ...own, jars, isDetached, heapMegabytes: HEAP_MEGABYTES }, controller }
  })
}

function properties({ plan, controller }: Place, places: readonly Place[]): Readonly<Record<string, string>> {
  const copies = String(NODE_IDS.length)
  const listener = `PLAINTEXT://127.0.0.1:${plan.port}`
  return {
    'process.roles': 'broker,controller',
    'node.id': String(plan.nodeId),
    listeners: `${listener},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': listener,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.voters': places.map((one) => `${one.plan.nodeId}@127.0.0.1:${one.controller}`).join(),
    'log.dirs': join(plan.folder, 'data'),
    'auto.create.topics.enable': 'false',
    // Tests move the clocks of processes; by default a record from more than an hour ahead is refused.
    'log.message.timestamp.after.max.ms': '9223372036854775807',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'min.insync.replicas': '2',
    'default.replication.factor': copies,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': String(POSITIONS_PARTITIONS),
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.num.partitions': '1',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
  }
}

interface TopicState {
  readonly name: string
  readonly partitions: readonly {
    readonly partitionId: number
    readonly leader: number
    readonly replicas: readonly number[]
    readonly isr: readonly number[]
  }[]
}

/** As the first broker sees it that answers; of all topics without names. */
async function partitionsOf(
  brokers: readonly ClusterBroker[],
  names: readonly string[] | null,
): Promise<readonly TopicState[]> {
  let last: unknown = new Error('no broker runs')
  for (const broker of brokers.filter((one) => one.isRunning())) {
    try {
      return await ask(broker, async (admin) => {
        const { topics } = await admin.fetchTopicMetadata(names === null ? undefined : { topics: [...names] })
        return topics
      })
    } catch (error) {
      last = error
    }
  }
  throw last
}

async function ask<T>(broker: ClusterBroker, question: (admin: Admin) => Promise<T>): Promise<T> {
  mendKafkajs()
  const silent = { logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 0 }, requestTimeout: 2_000 }
  const admin = new kafkajs.Kafka({ brokers: [broker.address], ...silent }).admin()
  try {
    await admin.connect()
    return await question(admin)
  } finally {
    // Never resolves if the broker is stopped.
    void admin.disconnect().catch(() => undefined)
  }
}

async function untilInStep(brokers: readonly ClusterBroker[]): Promise<void> {
  const endAtMs = performance.now() + SETTLE_MS
  for (;;) {
    const topics = await partitionsOf(brokers, null).catch(() => null)
    const all = topics?.flatMap(({ partitions }) => partitions)
    if (all?.every(({ isr, replicas, leader }) => leader > 0 && isr.length === replicas.length) === true) return
    if (performance.now() > endAtMs) throw new Error('the copies of the partitions did not come into step')
    await wait(POLL_MS)
  }
}

/** `String.hashCode` of Java without its sign, by which Kafka finds a group's partition. */
function javaHash(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
  return Math.abs(hash)
}
