/** The topics of this service on Kafka: their layout, and whether existing topics keep what was acknowledged. */

import { setTimeout } from 'node:timers/promises'

import type { Admin, ITopicConfig } from 'kafkajs'
import kafkajs from 'kafkajs'

import { LIMITS } from '../../../domain/limits.ts'
import { PROVIDER_IDS } from '../../../domain/providers/index.ts'
import type { Topic } from '../../../domain/records.ts'
import { RECORD_TOPICS, TIER_NAMES, WAITING_TIERS } from '../../../domain/records.ts'

import type { TopicLayout } from './url.ts'

interface TopicPlan {
  readonly topic: Topic
  readonly keepMs: number
}

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
/** Kafka's own default; slightly more than ours, so it is left unset. */
const MESSAGE_BYTES = 1_048_588
const LED_MS = 30_000
const LED_POLL_MS = 50

/** Every topic there is. */
export const ALL_TOPICS: readonly Topic[] = [
  ...RECORD_TOPICS,
  ...PROVIDER_IDS.flatMap((provider): Topic[] => [
    `deliver.${provider}`,
    ...TIER_NAMES.map((tier): Topic => `deliver.${provider}.${tier}`),
  ]),
  ...TIER_NAMES.map((tier): Topic => `dispatch.${tier}`),
  ...WAITING_TIERS.map((tier): Topic => `state.${tier}`),
  'mail',
  ...WAITING_TIERS.map((tier): Topic => `mail.${tier}`),
  'webhooks',
  ...TIER_NAMES.map((tier): Topic => `webhooks.${tier}`),
  'dead-letters',
]

function topicPlan(topic: Topic): TopicPlan {
  return { topic, keepMs: topic === 'dead-letters' ? LIMITS.deadLetterKeepMs : LIMITS.eventLogKeepMs }
}

interface TopicCheck {
  readonly prefix: string
  readonly layout: TopicLayout
  readonly topics: readonly Topic[]
  /** False: missing topics are problems. */
  readonly canCreate: boolean
}

/** Creates missing topics and checks existing ones, whose settings are never changed. */
export async function ensureTopics(admin: Admin, check: TopicCheck): Promise<TopicReport> {
  const plans = new Map(check.topics.map((topic) => [`${check.prefix}${topic}`, topicPlan(topic)]))
  const existing = new Set(await admin.listTopics())
  const missing = [...plans].filter(([name]) => !existing.has(name))
  if (missing.length > 0 && check.canCreate) {
    await admin.createTopics({
      topics: missing.map(([name, plan]) => topicConfig(name, plan, check.layout)),
      waitForLeaders: false,
    })
    await untilLed(
      admin,
      missing.map(([name]) => name),
    )
  }
  const present = [...plans].filter(([name]) => existing.has(name))
  const problems = present.length === 0 ? [] : await presentProblems(admin, new Map(present), check.layout)
  if (check.canCreate) return { created: missing.map(([name]) => name), problems }
  const message = 'is missing; `whencectl migrate` creates it'
  const absent = missing.map(([topic]) => ({ topic, message, isMissing: true }))
  return { created: [], problems: [...absent, ...problems] }
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

function topicConfig(name: string, { keepMs }: TopicPlan, layout: TopicLayout): ITopicConfig {
  const settings = {
    'retention.ms': String(keepMs),
    'retention.bytes': '-1',
    'cleanup.policy': 'delete',
    'min.insync.replicas': String(layout.minInSync),
    'unclean.leader.election.enable': 'false',
    'max.message.bytes': String(MESSAGE_BYTES),
    'message.timestamp.type': 'CreateTime',
  }
  return {
    topic: name,
    numPartitions: layout.partitions,
    replicationFactor: layout.replication,
    configEntries: Object.entries(settings).map(([entry, value]) => ({ name: entry, value })),
  }
}

async function presentProblems(
  admin: Admin,
  plans: ReadonlyMap<string, TopicPlan>,
  layout: TopicLayout,
): Promise<readonly TopicProblem[]> {
  const [metadata, configs] = await Promise.all([
    admin.fetchTopicMetadata({ topics: [...plans.keys()] }),
    admin.describeConfigs({
      includeSynonyms: false,
      resources: [...plans.keys()].map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
    }),
  ])
  const replicas = new Map(
    metadata.topics.map(({ name, partitions }) => [name, Math.min(...partitions.map((one) => one.replicas.length))]),
  )
  return configs.resources.flatMap(({ resourceName, configEntries }) => {
    const plan = plans.get(resourceName)
    if (plan === undefined) return []
    const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]))
    const state = { settings, replicas: replicas.get(resourceName) ?? 0 }
    return settingProblems(state, plan, layout).map((message) => ({ topic: resourceName, message, isMissing: false }))
  })
}

interface TopicState {
  readonly settings: ReadonlyMap<string, string>
  readonly replicas: number
}

/** Each completes a sentence that begins with the topic. */
function settingProblems({ settings, replicas }: TopicState, plan: TopicPlan, layout: TopicLayout): string[] {
  const number = (name: string): number => Number(settings.get(name) ?? 0)
  const problems: string[] = []
  if (replicas < layout.replication) problems.push(`has ${replicas} copies and needs ${layout.replication}`)
  const minInSync = number('min.insync.replicas')
  if (minInSync < layout.minInSync) problems.push(`has min.insync.replicas ${minInSync} and needs ${layout.minInSync}`)
  if (settings.get('unclean.leader.election.enable') === 'true') {
    problems.push('has unclean.leader.election.enable, which can lose acknowledged entries')
  }
  if (!(settings.get('cleanup.policy') ?? 'delete').split(',').every((policy) => policy.trim() === 'delete')) {
    problems.push('has a cleanup.policy other than delete, which would drop entries with the same key')
  }
  const keepMs = number('retention.ms')
  if (keepMs !== -1 && keepMs < plan.keepMs) problems.push(`has retention.ms ${keepMs} and needs ${plan.keepMs}`)
  const keepBytes = settings.get('retention.bytes') ?? '-1'
  if (keepBytes !== '-1') problems.push(`has retention.bytes ${keepBytes}, which can end the retention early`)
  const messageBytes = number('max.message.bytes')
  if (messageBytes < MIN_MESSAGE_BYTES) {
    problems.push(`has max.message.bytes ${messageBytes} and needs ${MIN_MESSAGE_BYTES}`)
  }
  return problems
}
