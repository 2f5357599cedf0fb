/** What is asked of Kafka besides appending and consuming: positions, lag, and reading without a group. */

import { randomUUID } from 'node:crypto'

import type { Admin, Kafka } from 'kafkajs'

import type { Topic } from '../../domain/records.ts'

import type { StoredEntry, TopicLag } from './event-log.ts'
import { LogUnavailable } from './event-log.ts'

export interface PartitionRange {
  readonly partition: number
  /** Oldest offset kept. */
  readonly low: number
  /** Offset after the newest entry. */
  readonly end: number
}

const READ_MS = 30_000
const FETCH_WAIT_MS = 50

export async function topicRanges(admin: Admin, topicName: string): Promise<readonly PartitionRange[]> {
  const offsets = await admin.fetchTopicOffsets(topicName)
  return offsets.map(({ partition, low, high }) => ({ partition, low: Number(low), end: Number(high) }))
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

export interface LagQuery {
  readonly groupId: string
  readonly topicName: string
  /** Null for all. */
  readonly partitions: readonly number[] | null
}

/** Entries the group has not done; without a position, all that are kept. */
export async function lagOf(admin: Admin, { groupId, topicName, partitions }: LagQuery): Promise<number> {
  const [ranges, positions] = await Promise.all([topicRanges(admin, topicName), positionsOf(admin, groupId, topicName)])
  let entries = 0
  for (const { partition, low, end } of ranges) {
    if (partitions !== null && !partitions.includes(partition)) continue
    entries += Math.max(0, end - Math.max(low, positions.get(partition) ?? low))
  }
  return entries
}

export interface GroupNames {
  readonly topicName: (topic: Topic) => string
  /** Null for a group that is none of ours. */
  readonly parse: (groupId: string) => { readonly group: string; readonly topic: Topic } | null
}

/** Lag of every group of ours that Kafka knows. */
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

export interface ReadQuery {
  readonly topicName: string
  readonly groupPrefix: string
  readonly fromOffset: number
  readonly maxEntries: number
}

/**
 * Reads all partitions from one offset on, by offset and then partition. All entries with the same offset come together,
 * even where that exceeds `maxEntries`, so that reading on from the last offset plus one leaves nothing out.
 */
export async function readEntries(kafka: Kafka, admin: Admin, query: ReadQuery): Promise<readonly StoredEntry[]> {
  const wanted = (await topicRanges(admin, query.topicName))
    .map(({ partition, low, end }) => ({ partition, from: Math.max(low, query.fromOffset), end }))
    .filter(({ from, end }) => from < end)
  if (wanted.length === 0 || query.maxEntries <= 0) return []
  const groupId = `${query.groupPrefix}reader-${randomUUID()}`
  const parts = await collect(kafka, { ...query, groupId, wanted })
  // The group has no positions; only its name would stay.
  await admin.deleteGroups([groupId]).catch(() => undefined)
  const rows = parts
    .flatMap(({ partition, entries }) => entries.map((entry) => ({ partition, entry })))
    .sort((left, right) => left.entry.offset - right.entry.offset || left.partition - right.partition)
    .map(({ entry }) => entry)
  return rows.slice(0, wholeRows(rows, query.maxEntries))
}

function wholeRows(rows: readonly StoredEntry[], maxEntries: number): number {
  const cutAt = rows[maxEntries]?.offset
  if (cutAt === undefined || rows[maxEntries - 1]?.offset !== cutAt) return maxEntries
  const first = rows.findIndex(({ offset }) => offset === cutAt)
  if (first > 0) return first
  const next = rows.findIndex(({ offset }) => offset > cutAt)
  return next === -1 ? rows.length : next
}

interface Collected {
  readonly partition: number
  readonly entries: StoredEntry[]
}

async function collect(
  kafka: Kafka,
  query: ReadQuery & {
    readonly groupId: string
    readonly wanted: readonly { readonly partition: number; readonly from: number; readonly end: number }[]
  },
): Promise<readonly Collected[]> {
  const { topicName, groupId, wanted, maxEntries } = query
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: FETCH_WAIT_MS, allowAutoTopicCreation: false })
  const finished = Promise.withResolvers<void>()
  const timer = setTimeout(() => finished.reject(new LogUnavailable('reading took too long')), READ_MS)
  const parts = new Map(wanted.map((one) => [one.partition, { ...one, entries: [] as StoredEntry[], isDone: false }]))
  consumer.on(consumer.events.CRASH, ({ payload }) => finished.reject(new LogUnavailable(payload.error.message)))
  try {
    await consumer.connect()
    await consumer.subscribe({ topic: topicName, fromBeginning: true })
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => {
        const { batch } = payload
        const part = parts.get(batch.partition)
        for (const { offset, key, value, timestamp } of batch.messages) {
          if (part === undefined || part.isDone || Number(offset) < part.from) continue
          const appendedAtMs = Number(timestamp)
          const entry = { key: key?.toString() ?? '', value: value?.toString() ?? '', offset: Number(offset) }
          part.entries.push({ ...entry, appendedAtMs })
          part.isDone = part.entries.length >= maxEntries
        }
        payload.resolveOffset(batch.lastOffset())
        if (part !== undefined && Number(batch.lastOffset()) >= part.end - 1) part.isDone = true
        if ([...parts.values()].every(({ isDone }) => isDone)) finished.resolve()
      },
    })
    for (const { partition, from } of wanted) consumer.seek({ topic: topicName, partition, offset: String(from) })
    await finished.promise
  } finally {
    clearTimeout(timer)
    await consumer.disconnect().catch(() => undefined)
  }
  return [...parts.values()]
}
