/** Requests to Kafka about positions: ranges of offsets, positions of groups, and their lag. */

import type { Admin } from 'kafkajs'

import type { Topic } from '../../../../domain/records.ts'

import type { TopicLag } from '../../event-log.ts'

export interface PartitionRange {
  readonly partition: number
  /** Oldest offset kept. */
  readonly low: number
  /** Offset after the newest entry. */
  readonly end: number
}

export async function topicRanges(admin: Admin, topicName: string): Promise<readonly PartitionRange[]> {
  const offsets = await admin.fetchTopicOffsets(topicName)
  return offsets.map(({ partition, low, high }) => ({ partition, low: Number(low), end: Number(high) }))
}

/** Offset of the first entry of this time or later, by partition; the end if there is none. */
export async function offsetsSince(
  admin: Admin,
  topicName: string,
  sinceMs: number,
): Promise<ReadonlyMap<number, number>> {
  const [found, ranges] = await Promise.all([
    admin.fetchTopicOffsetsByTimestamp(topicName, sinceMs),
    topicRanges(admin, topicName),
  ])
  const offsets = new Map(ranges.map(({ partition, end }) => [partition, end]))
  for (const { partition, offset } of found) if (Number(offset) >= 0) offsets.set(partition, Number(offset))
  return offsets
}

/** The group's positions; partitions without one are absent. */
export async function positionsOf(
  admin: Admin,
  groupId: string,
  topicName: string,
): Promise<ReadonlyMap<number, number>> {
  const [ofTopic] = await admin.fetchOffsets({ groupId, topics: [topicName] })
  const positions = new Map<number, number>()
  for (const { partition, offset } of ofTopic?.partitions ?? []) {
    if (Number(offset) >= 0) positions.set(partition, Number(offset))
  }
  return positions
}

interface LagQuery {
  readonly groupId: string
  readonly topicName: string
  /** Null for all. */
  readonly partitions: readonly number[] | null
}

/** Entries that the group has not finished; without a position, all that are kept. */
export async function lagOf(admin: Admin, { groupId, topicName, partitions }: LagQuery): Promise<number> {
  const [ranges, positions] = await Promise.all([topicRanges(admin, topicName), positionsOf(admin, groupId, topicName)])
  let entries = 0
  for (const { partition, low, end } of ranges) {
    if (partitions !== null && !partitions.includes(partition)) continue
    entries += Math.max(0, end - Math.max(low, positions.get(partition) ?? low))
  }
  return entries
}

interface GroupNames {
  readonly topicName: (topic: Topic) => string
  /** Null for a group of another service. */
  readonly parse: (groupId: string) => { readonly group: string; readonly topic: Topic } | null
}

/** Lag of every group of this service that Kafka knows. */
export async function allLags(admin: Admin, names: GroupNames): Promise<readonly TopicLag[]> {
  const { groups } = await admin.listGroups()
  return Promise.all(
    groups.flatMap(({ groupId }) => {
      const known = names.parse(groupId)
      if (known === null) return []
      const query = { groupId, topicName: names.topicName(known.topic), partitions: null }
      return [lagOf(admin, query).then((entries) => ({ ...known, entries }))]
    }),
  )
}
