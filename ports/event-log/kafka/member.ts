/** What a member of a consumer group is made from: its place in the group, and its bounds. */

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
  /** Longest wait of one fetch for something new, in ms. */
  readonly fetchWaitMs: number
  /** How long a member that shows signs of life may take to join anew, in ms. */
  readonly rebalanceMs: number
  /** Without progress for this long although there is something to fetch, the consumer is made anew, in ms. */
  readonly stalledMs: number
  /** Also after this without a sign of its membership: no heartbeat was answered and no group joined, in ms. */
  readonly silentMs: number
  /** And where commits have failed for this long, in ms. */
  readonly uncommittedMs: number
  /** How long `start` waits for a place in the group, in ms. */
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
  /** Entries per partition that the group has not done; what the watchdog asks. */
  readonly lagOf: (partitions: readonly number[]) => Promise<number>
  /** The group's positions, by partition; absent where it has none. */
  readonly positions: () => Promise<ReadonlyMap<number, number>>
  /** Where entries of that time or later begin, by partition. */
  readonly offsetsSince: (sinceMs: number) => Promise<ReadonlyMap<number, number>>
  /** Where a new group begins that asks for the newest: the end of each partition that has no position yet. */
  readonly newestOf: (partitions: readonly number[]) => Promise<ReadonlyMap<number, number>>
}
