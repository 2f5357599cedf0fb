/** The parameters of a member of a consumer group: its topic and group, and its bounds. */

import type { Kafka } from 'kafkajs'

import type { Topic } from '../../../domain/records.ts'

import type { BatchHandler, ConsumeOptions } from '../event-log.ts'
import type { FlowBudget, FlowOptions } from './flow.ts'

export interface MemberSettings {
  readonly nowMs: () => number
  readonly retryMs: FlowOptions['retryMs']
  readonly recheckMs: number
  readonly random: () => number
  readonly maxBytesPerPartition: number
  readonly budget: FlowBudget
  readonly sessionMs: number
  readonly heartbeatMs: number
  /** Longest wait of one fetch for new entries, in ms. */
  readonly fetchWaitMs: number
  /** How long a member that shows signs of life may take to rejoin, in ms. */
  readonly rebalanceMs: number
  /** The consumer is recreated after this long without progress although there are entries to fetch, in ms. */
  readonly stalledMs: number
  /** Also after this long without a sign of membership: no heartbeat answered and no group joined, in ms. */
  readonly silentMs: number
  /** Also after commits have failed for this long, in ms. */
  readonly uncommittedMs: number
  /** How long a stop waits for the current batches, in ms. */
  readonly inHandMs: number
  /** How long `start` waits to join the group, in ms. */
  readonly joinMs: number
  readonly onFetch: () => void
  readonly onFailure: (error: unknown, topic: Topic, group: string) => void
}

export interface MemberPlace {
  readonly kafka: Kafka
  readonly topic: Topic
  readonly topicName: string
  readonly group: string
  readonly groupId: string
  readonly handler: BatchHandler
  readonly options: ConsumeOptions
  /** Entries per partition that the group has not finished; for the watchdog. */
  readonly lagOf: (partitions: readonly number[]) => Promise<number>
  /** The group's positions, by partition; partitions without one are absent. */
  readonly positions: () => Promise<ReadonlyMap<number, number>>
  /** Offset of the first entry of that time or later, by partition. */
  readonly offsetsSince: (sinceMs: number) => Promise<ReadonlyMap<number, number>>
  /** Where a new group with `from: 'newest'` begins: the end of each partition that has no position yet. */
  readonly newestOf: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>
}
