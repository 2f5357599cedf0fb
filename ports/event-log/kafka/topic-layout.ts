/** The topics of this service on Kafka: their layout, and whether existing topics keep what was acknowledged. */

import { setTimeout } from 'node:timers/promises'

import type { Admin, ITopicConfig } from 'kafkajs'
import kafkajs from 'kafkajs'

import { DAY_MS } from '../../../domain/durations.ts'
import type { Topic } from '../../../domain/records.ts'
import { keysOf } from '../../../domain/typed-keys.ts'

import { groupOf, isAlwaysThere, setMadeWith, TOPIC_GROUPS } from './topic-groups.ts'
import type { TopicLayout } from './url.ts'

export interface TopicProblem {
  /** Name on the broker, with its prefix. */
  readonly topic: string
  /** Completes a sentence that begins with the topic. */
  readonly message: string
  readonly isMissing: boolean
}

export interface TopicReport {
  /** Names on the broker of topics made now. */
  readonly created: readonly string[]
  /** Settings that could lose acknowledged entries or refuse valid ones. */
  readonly problems: readonly TopicProblem[]
}

/** Largest batch of one partition that the broker must accept; the adapter's own batches stay below it. */
const MIN_MESSAGE_BYTES = 1024 * 1024
const LED_MS = 30_000
const LED_POLL_MS = 50

export interface TopicCheck {
  readonly prefix: string
  readonly layout: TopicLayout
  readonly topics: readonly Topic[]
  /**
   * `needed` leaves out those that are made when something first needs them, unless a part of them is there. With `nothing`, other
   * missing topics are problems.
   */
  readonly create: 'all' | 'needed' | 'nothing'
}

/**
 * Creates missing topics, and checks all that are there, whose settings are never changed. New ones are checked as well: what
 * they get from the cluster may be unsafe.
 */
export async function ensureTopics(admin: Admin, check: TopicCheck): Promise<TopicReport> {
  const wanted = new Map(check.topics.map((topic) => [`${check.prefix}${topic}`, topic]))
  const existing = new Set(await admin.listTopics())
  const isNeeded = (topic: Topic): boolean =>
    isAlwaysThere(topic) ||
    (setMadeWith(topic)?.topics.some(([other]) => existing.has(`${check.prefix}${other}`)) ?? false)
  const missing = [...wanted].filter(
    ([name, topic]) => !existing.has(name) && (check.create === 'all' || isNeeded(topic)),
  )
  const created = check.create === 'nothing' ? [] : missing
  if (created.length > 0) {
    const topics = created.map(([name, topic]) => topicConfig(name, topic, check.layout))
    await admin.createTopics({ topics, waitForLeaders: false })
    for (const [name] of created) existing.add(name)
    await untilLed(
      admin,
      created.map(([name]) => name),
    )
  }
  const present = [...wanted].filter(([name]) => existing.has(name))
  const problems = present.length === 0 ? [] : await presentProblems(admin, new Map(present), check.layout)
  const message = 'is missing; `whencectl migrate` creates it'
  const absent = missing
    .filter(([name, topic]) => !existing.has(name) && isAlwaysThere(topic))
    .map(([topic]) => ({ topic, message, isMissing: true }))
  return { created: created.map(([name]) => name), problems: [...absent, ...problems] }
}

/**
 * Resolves when every partition answers through its leader. kafkajs's own wait fails if a broker does not know the
 * topic yet. A batch for partitions of which only some are ready would be stored in part, then stored again.
 */
async function untilLed(admin: Admin, names: readonly string[]): Promise<void> {
  const endAtMs = performance.now() + LED_MS
  for (const name of names) while (!(await isLed(admin, name, endAtMs))) await setTimeout(LED_POLL_MS)
}

async function isLed(admin: Admin, name: string, endAtMs: number): Promise<boolean> {
  try {
    await admin.fetchTopicOffsets(name)
    return true
  } catch (error) {
    if (performance.now() > endAtMs) throw error
    return false
  }
}

/** Of Kafka itself, whatever a cluster sets instead: those that a topic needs. Some services refuse to be sent them. */
const KAFKA_DEFAULTS = { 'retention.ms': 7 * DAY_MS, 'min.insync.replicas': 1 } as const

/** Only what differs from Kafka's defaults is sent; all of it is judged. */
function topicConfig(name: string, topic: Topic, layout: TopicLayout): ITopicConfig {
  const { keepMs } = TOPIC_GROUPS[groupOf(topic)]
  const settings = { 'retention.ms': keepMs, 'min.insync.replicas': layout.minInSync }
  return {
    topic: name,
    numPartitions: layout.partitions[groupOf(topic)],
    replicationFactor: layout.replication,
    configEntries: keysOf(settings)
      .filter((entry) => settings[entry] !== KAFKA_DEFAULTS[entry])
      .map((entry) => ({ name: entry, value: String(settings[entry]) })),
  }
}

async function presentProblems(
  admin: Admin,
  wanted: ReadonlyMap<string, Topic>,
  layout: TopicLayout,
): Promise<readonly TopicProblem[]> {
  const [metadata, configs] = await Promise.all([
    admin.fetchTopicMetadata({ topics: [...wanted.keys()] }),
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [...wanted.keys()].map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
    }),
  ])
  const replicas = new Map(
    metadata.topics.map(({ name, partitions }) => [name, Math.min(...partitions.map((one) => one.replicas.length))]),
  )
  return configs.resources.flatMap(({ resourceName, configEntries }) => {
    const topic = wanted.get(resourceName)
    if (topic === undefined) return []
    const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]))
    const state = { settings, replicas: replicas.get(resourceName) ?? 0 }
    return settingProblems(state, topic, layout).map((message) => ({ topic: resourceName, message, isMissing: false }))
  })
}

interface TopicState {
  readonly settings: ReadonlyMap<string, string>
  readonly replicas: number
}

/** Each completes a sentence that begins with the topic. */
function settingProblems({ settings, replicas }: TopicState, topic: Topic, layout: TopicLayout): string[] {
  const number = (name: string): number => Number(settings.get(name) ?? 0)
  const problems: string[] = []
  if (replicas < layout.replication) problems.push(`has ${replicas} copies and needs ${layout.replication}`)
  const minInSync = number('min.insync.replicas')
  if (minInSync < layout.minInSync) problems.push(`has min.insync.replicas ${minInSync} and needs ${layout.minInSync}`)
  if (minInSync > replicas)
    problems.push(`has ${replicas} copies and min.insync.replicas ${minInSync}: it takes nothing`)
  if (settings.get('unclean.leader.election.enable') === 'true') {
    problems.push('has unclean.leader.election.enable, which can lose acknowledged entries')
  }
  if (!(settings.get('cleanup.policy') ?? 'delete').split(',').every((policy) => policy.trim() === 'delete')) {
    problems.push('has a cleanup.policy other than delete, which would drop entries with the same key')
  }
  const keepMs = number('retention.ms')
  const { keepMs: neededMs } = TOPIC_GROUPS[groupOf(topic)]
  if (keepMs !== -1 && keepMs < neededMs) problems.push(`has retention.ms ${keepMs} and needs ${neededMs}`)
  const keepBytes = settings.get('retention.bytes') ?? '-1'
  if (keepBytes !== '-1') problems.push(`has retention.bytes ${keepBytes}, which can end the retention early`)
  const messageBytes = number('max.message.bytes')
  if (messageBytes < MIN_MESSAGE_BYTES) {
    problems.push(`has max.message.bytes ${messageBytes} and needs ${MIN_MESSAGE_BYTES}`)
  }
  return problems
}
