/** The parameters of a member of a consumer group: its topic and group, and its bounds. */

import type { Kafka } from 'kafkajs'

import type { Topic } from '../../../domain/records.ts'

import type { ConsumerPace } from '../batch-pace.ts'
import type { BatchHandler, ConsumeOptions } from '../event-log.ts'
import type { FlowBudget } from './flow.ts'

export interface MemberSettings {
  readonly nowMs: () => number
  readonly pace: ConsumerPace
  readonly membership: MembershipTimes
  readonly watchdog: WatchdogTimes
  readonly fetching: FetchBounds
  readonly onFailure: (error: unknown, topic: Topic, group: string) => void
}

/** How the group and its coordinator know a member; in ms. */
export interface MembershipTimes {
  readonly sessionMs: number
  readonly heartbeatMs: number
  /** Longest wait of one fetch for new entries. */
  readonly fetchWaitMs: number
  /** How long a member that shows signs of life may take to rejoin. */
  readonly rebalanceMs: number
  /** How long `start` waits to join the group. */
  readonly joinMs: number
}

/** The consumer is recreated after this long, in ms: */
export interface WatchdogTimes {
  /** without progress although there are entries to fetch; */
  readonly stalledMs: number
  /** without a sign of membership: no heartbeat answered and no group joined; */
  readonly silentMs: number
  /** during which commits have failed. */
  readonly uncommittedMs: number
}

interface FetchBounds {
  readonly maxBytesPerPartition: number
  /** Shared by all consumers of the log. */
  readonly budget: FlowBudget
  readonly onFetch: () => void
}

export interface MemberPlace {
  readonly kafka: Kafka
  readonly names: MemberNames
  readonly handler: BatchHandler
  readonly options: ConsumeOptions
  readonly questions: GroupQuestions
}

/** Topic and group, as the service and as Kafka call them. */
interface MemberNames {
  readonly topic: Topic
  readonly topicName: string
  readonly group: string
  readonly groupId: string
}

/** What a member asks the brokers about its group. */
interface GroupQuestions {
  /** Entries per partition that the group has not finished; for the watchdog. */
  readonly lagOf: (partitions: readonly number[]) => Promise<number>
  /** The group's positions, by partition; partitions without one are absent. */
  readonly positions: () => Promise<ReadonlyMap<number, number>>
  /** Offset of the first entry of that time or later, by partition. */
  readonly offsetsSince: (sinceMs: number) => Promise<ReadonlyMap<number, number>>
  /** Where a new group with `from: 'newest'` begins: the end of each partition that has no position yet. */
  readonly newestOf: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>
}
