/** The topics of this service by what they are for: how many partitions each has, and which exist from the beginning. */

import { LIMITS } from '../../../domain/limits.ts'
import { PROVIDER_IDS } from '../../../domain/providers/index.ts'
import { RECORD_TOPICS, TIER_NAMES, WAITING_TIERS, type Topic } from '../../../domain/records.ts'

interface TopicGroupRow {
  /** Of each topic, unless the address says otherwise. */
  readonly partitions: number
  readonly holds: string
  /** What first needs one; null if `whencectl migrate` makes it. */
  readonly madeFor: string | null
  readonly keepMs: number
}

/** Few partitions where entries wait on purpose, or come one by one: each costs a broker memory, files and replication. */
export const TOPIC_GROUPS = {
  records: {
    partitions: 12,
    holds: 'records, one topic for each kind',
    madeFor: null,
    keepMs: LIMITS.eventLogKeepMs,
  },
  waiting: {
    partitions: 3,
    holds: 'installs (`dispatch`) and activations (`state`) whose facts are not there yet, by how long they wait',
    madeFor: null,
    keepMs: LIMITS.eventLogKeepMs,
  },
  'dead-letters': {
    partitions: 3,
    holds: 'deliveries that failed for good',
    madeFor: null,
    keepMs: LIMITS.deadLetterKeepMs,
  },
  deliver: {
    partitions: 12,
    holds: 'deliveries to one provider',
    madeFor: 'the first Destination of the provider',
    keepMs: LIMITS.eventLogKeepMs,
  },
  retries: {
    partitions: 3,
    holds: 'deliveries, events and mails to be tried again, by how long they wait',
    madeFor: 'with the topic of their first try',
    keepMs: LIMITS.eventLogKeepMs,
  },
  webhooks: {
    partitions: 3,
    holds: 'events for webhooks',
    madeFor: 'the first Webhook',
    keepMs: LIMITS.eventLogKeepMs,
  },
  mail: {
    partitions: 3,
    holds: 'mails',
    madeFor: 'a dashboard with a mail server',
    keepMs: LIMITS.eventLogKeepMs,
  },
} as const satisfies Readonly<Record<string, TopicGroupRow>>

export type TopicGroup = keyof typeof TOPIC_GROUPS

/** Topics that are of use only together. */
export interface TopicSet {
  readonly topics: readonly (readonly [Topic, TopicGroup])[]
  /** False: only what needs them makes them. */
  readonly isAlwaysThere: boolean
}

/** Every set there is. */
export const TOPIC_SETS: readonly TopicSet[] = [
  {
    isAlwaysThere: true,
    topics: [
      ...RECORD_TOPICS.map((topic) => [topic, 'records'] as const),
      ...TIER_NAMES.map((tier) => [`dispatch.${tier}`, 'waiting'] as const),
      ...WAITING_TIERS.map((tier) => [`state.${tier}`, 'waiting'] as const),
      ['dead-letters', 'dead-letters'],
    ],
  },
  ...PROVIDER_IDS.map((provider): TopicSet => ({
    isAlwaysThere: false,
    topics: [
      [`deliver.${provider}`, 'deliver'],
      ...TIER_NAMES.map((tier) => [`deliver.${provider}.${tier}`, 'retries'] as const),
    ],
  })),
  {
    isAlwaysThere: false,
    topics: [['webhooks', 'webhooks'], ...TIER_NAMES.map((tier) => [`webhooks.${tier}`, 'retries'] as const)],
  },
  {
    isAlwaysThere: false,
    topics: [['mail', 'mail'], ...WAITING_TIERS.map((tier) => [`mail.${tier}`, 'retries'] as const)],
  },
]

/** Every topic there may be. */
export const ALL_TOPICS: readonly Topic[] = TOPIC_SETS.flatMap(({ topics }) => topics.map(([topic]) => topic))

const SET_OF = new Map(TOPIC_SETS.flatMap((set) => set.topics.map(([topic]) => [topic, set] as const)))
const GROUP_OF = new Map(TOPIC_SETS.flatMap(({ topics }) => topics))

/** Topics that come with this one; null if it is always there. */
export function setMadeWith(topic: Topic): TopicSet | null {
  const set = SET_OF.get(topic)
  return set === undefined || set.isAlwaysThere ? null : set
}

export function isAlwaysThere(topic: Topic): boolean {
  return setMadeWith(topic) === null
}

export function groupOf(topic: Topic): TopicGroup {
  return GROUP_OF.get(topic) ?? 'records'
}
