/** A member of a consumer group on Kafka: shares the partitions, commits what is done, and is recreated if it stops. */

import { setTimeout as wait } from 'node:timers/promises'

import type { ConsumerGroupJoinEvent, EachBatchPayload, Consumer as KafkaConsumer } from 'kafkajs'

import type { Consumer } from '../event-log.ts'
import { LogUnavailable } from '../event-log.ts'
import { storedEntry } from './client.ts'
import { PartitionFlow } from './flow.ts'
import type { MemberPlace, MemberSettings } from './member.ts'
import { every, type Repetition } from '../../../common/every.ts'
import { endedWithin } from '../../../common/deadline.ts'

export type { MemberPlace, MemberSettings } from './member.ts'

const DISCONNECT_MS = 5_000
/**
 * How long the old consumer may take to leave before a new one is made; a silent broker will not answer that either.
 */
const LEAVE_MS = 2_000
/** After a failover, a partition is fetched from its new leader after about this long. */
const METADATA_MS = 5_000
const FETCH_BYTES_PER_PARTITION = 1024 * 1024

/** Resolves when the member has joined its group, possibly without partitions. */
export async function startMember(place: MemberPlace, settings: MemberSettings): Promise<Consumer> {
  const member = new GroupConsumer(place, settings)
  await member.start()
  return member
}

class GroupConsumer implements Consumer {
  readonly #place: MemberPlace
  readonly #settings: MemberSettings
  readonly #flows = new Map<number, PartitionFlow>()
  readonly #joined = Promise.withResolvers<void>()
  readonly #paused = new Set<number>()
  /** Partitions whose start is still being looked up; entries fetched from them are dropped. */
  readonly #starting = new Set<number>()
  #consumer: KafkaConsumer | null = null
  readonly #stopping = new AbortController()
  #stopped: Promise<void> | null = null
  #restarting: Promise<void> | null = null
  #failures = 0
  #fetchedAtMs = performance.now()
  /** When the group's coordinator last confirmed this member. */
  #memberAtMs = performance.now()
  #uncommittedSinceMs: number | null = null
  /** When each partition last delivered something, or was seen to have nothing new. */
  readonly #progressAtMs = new Map<number, number>()
  #looks: readonly Repetition[] = []

  constructor(place: MemberPlace, settings: MemberSettings) {
    this.#place = place
    this.#settings = settings
  }

  async start(): Promise<void> {
    const timer = setTimeout(
      () => this.#joined.reject(new LogUnavailable(`could not join group ${this.#place.names.groupId} in time`)),
      this.#settings.membership.joinMs,
    )
    const onFailure = (error: unknown): void => this.#failed(error)
    const { stalledMs, silentMs } = this.#settings.watchdog
    const watchMs = Math.min(stalledMs, silentMs) / 8
    this.#looks = [
      every(RESUME_EVERY_MS, () => this.#resumeWhereRoom(), { firstMs: RESUME_EVERY_MS, onFailure }),
      // Not awaited: a question that a broker leaves open must not keep its silence from being noticed.
      every(watchMs, () => void this.#watch().catch(onFailure), { firstMs: watchMs, onFailure }),
    ]
    try {
      void this.#connect()
      await this.#joined.promise
    } catch (error) {
      await this.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async rewind(sinceMs: number): Promise<void> {
    const { questions } = this.#place
    const [offsets, positions] = await Promise.all([questions.offsetsSince(sinceMs), questions.positions()])
    for (const partition of [...this.#flows.keys()]) {
      const offset = offsets.get(partition)
      if (offset !== undefined) await this.#goBack(partition, offset, positions.get(partition) ?? null)
    }
  }

  /** Drops entries fetched meanwhile: they would leave a gap after the redelivered ones. */
  async #goBack(partition: number, offset: number, standsAt: number | null): Promise<void> {
    const consumer = this.#consumer
    const flow = this.#flows.get(partition)
    if (consumer === null || flow === undefined || this.#isStopping)
      throw new LogUnavailable('the consumer is not running')
    this.#starting.add(partition)
    try {
      const isBack = await flow.goBack(offset, standsAt)
      if (consumer !== this.#consumer || flow !== this.#flows.get(partition)) {
        throw new LogUnavailable('the consumer was recreated')
      }
      if (!isBack) return
      consumer.seek({ topic: this.#place.names.topicName, partition, offset: String(offset) })
      await this.#commit(partition, offset)
    } finally {
      this.#starting.delete(partition)
    }
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  close(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    for (const each of this.#looks) void each.close()
    const flows = [...this.#flows.values()]
    for (const flow of flows) flow.end({ isLost: false })
    await endedWithin(Promise.all(flows.map(({ ended }) => ended)), this.#settings.pace.inHandMs)
    // A handler may wait for something that never answers. The batch is redelivered, and its late outcome is ignored.
    for (const flow of flows) flow.end({ isLost: true })
    await this.#restarting
    await this.#disconnect(DISCONNECT_MS)
  }

  async #connect(): Promise<void> {
    const { kafka, names, options } = this.#place
    const { membership } = this.#settings
    const consumer = kafka.consumer({
      groupId: names.groupId,
      sessionTimeout: membership.sessionMs,
      heartbeatInterval: membership.heartbeatMs,
      rebalanceTimeout: membership.rebalanceMs,
      metadataMaxAge: METADATA_MS,
      maxWaitTimeInMs: membership.fetchWaitMs,
      maxBytesPerPartition: FETCH_BYTES_PER_PARTITION,
      allowAutoTopicCreation: false,
      // kafkajs restarts only after errors it considers retriable; this member restarts after all of them.
      retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000, restartOnFailure: async () => false },
    })
    this.#consumer = consumer
    this.#paused.clear()
    // A group whose members are gone admits a new one only after their sessions have ended.
    this.#fetchedAtMs = this.#memberAtMs = performance.now() + membership.rebalanceMs
    this.#uncommittedSinceMs = null
    const isCurrent = (): boolean => this.#consumer === consumer
    consumer.on(consumer.events.GROUP_JOIN, (event) => void (isCurrent() && this.#assigned(event)))
    consumer.on(consumer.events.FETCH, () => {
      this.#fetchedAtMs = performance.now()
      this.#settings.fetching.onFetch()
    })
    consumer.on(consumer.events.HEARTBEAT, () => void (isCurrent() && (this.#memberAtMs = performance.now())))
    consumer.on(consumer.events.CRASH, ({ payload }) => void (isCurrent() && this.#restart(payload.error)))
    try {
      await consumer.connect()
      await consumer.subscribe({ topic: names.topicName, fromBeginning: options.from !== 'newest' })
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => void (isCurrent() && this.#fetched(payload)),
      })
    } catch (error) {
      if (isCurrent()) this.#restart(error)
    }
  }

  /** Flows of partitions that stay keep their entries; fetching restarts at the group's position. */
  #assigned({ payload }: ConsumerGroupJoinEvent): void {
    if (this.#isStopping) return
    this.#failures = 0
    this.#memberAtMs = performance.now()
    const partitions = payload.memberAssignment[this.#place.names.topicName] ?? []
    for (const [partition, flow] of this.#flows) {
      if (partitions.includes(partition)) continue
      flow.end({ isLost: true })
      this.#flows.delete(partition)
    }
    const added = partitions.filter((partition) => !this.#flows.has(partition))
    if (this.#place.options.from !== 'newest' || added.length === 0) {
      for (const partition of added) this.#addFlow(partition, null)
      return this.#joined.resolve()
    }
    for (const partition of added) this.#starting.add(partition)
    void this.#begin(added)
  }

  async #begin(partitions: readonly number[]): Promise<void> {
    const consumer = this.#consumer
    try {
      const newest = await this.#place.questions.newestOf(partitions)
      if (consumer === null || consumer !== this.#consumer || this.#isStopping) return
      for (const partition of partitions) {
        const offset = newest.get(partition) ?? null
        if (offset !== null) {
          await this.#commit(partition, offset)
          consumer.seek({ topic: this.#place.names.topicName, partition, offset: String(offset) })
        }
        if (!this.#flows.has(partition)) this.#addFlow(partition, offset)
        this.#starting.delete(partition)
      }
      this.#joined.resolve()
    } catch (error) {
      if (consumer === this.#consumer) this.#restart(error)
    }
  }

  #addFlow(partition: number, fromOffset: number | null): void {
    const { names, handler, options } = this.#place
    const { nowMs, pace, fetching } = this.#settings
    const flow = new PartitionFlow(
      {
        source: { topic: names.topic, partition, commit: (of, offset) => this.#commit(of, offset) },
        consumer: { handler, options },
        bounds: { maxBytes: fetching.maxBytesPerPartition, budget: fetching.budget },
        pace,
        nowMs,
        onFailure: (error) => this.#failed(error),
      },
      fromOffset,
    )
    this.#flows.set(partition, flow)
    this.#progressAtMs.set(partition, performance.now())
  }

  #fetched(payload: EachBatchPayload): void {
    const { batch } = payload
    const flow = this.#flows.get(batch.partition)
    if (flow === undefined || this.#isStopping || this.#starting.has(batch.partition) || payload.isStale()) return
    // Entries that are not accepted stay unresolved and are fetched again.
    if (flow.isFull) return this.#pause(batch.partition)
    const entries = batch.messages.map(storedEntry)
    this.#progressAtMs.set(batch.partition, performance.now())
    flow.accept({ entries, endOffset: Number(batch.highWatermark) })
    payload.resolveOffset(batch.lastOffset())
    if (flow.isFull) this.#pause(batch.partition)
  }

  #pause(partition: number): void {
    this.#paused.add(partition)
    this.#consumer?.pause([{ topic: this.#place.names.topicName, partitions: [partition] }])
  }

  #resumeWhereRoom(): void {
    for (const partition of this.#paused) {
      if (this.#flows.get(partition)?.isFull === true) continue
      this.#paused.delete(partition)
      this.#consumer?.resume([{ topic: this.#place.names.topicName, partitions: [partition] }])
    }
  }

  async #commit(partition: number, offset: number): Promise<void> {
    const consumer = this.#consumer
    if (consumer === null) throw new Error('the consumer is being recreated')
    try {
      await consumer.commitOffsets([{ topic: this.#place.names.topicName, partition, offset: String(offset) }])
      this.#uncommittedSinceMs = null
    } catch (error) {
      if (consumer === this.#consumer) this.#uncommitted(error)
      throw error
    }
  }

  /** Rejoining finds a coordinator that moved; kafkajs can keep the old one while its connection lasts. */
  #uncommitted(error: unknown): void {
    this.#uncommittedSinceMs ??= performance.now()
    if (performance.now() - this.#uncommittedSinceMs >= this.#settings.watchdog.uncommittedMs) this.#restart(error)
  }

  /**
   * A consumer can hang in three ways: the fetch loop stops; it runs but brings nothing although there are entries; or
   * it runs although the group has dropped this member, because kafkajs keeps fetching after that.
   */
  async #watch(): Promise<void> {
    const { stalledMs } = this.#settings.watchdog
    const consumer = this.#consumer
    const nowMs = performance.now()
    if (this.#isStopping || consumer === null || this.#restarting !== null) return
    const silence = this.#silence(nowMs)
    if (silence !== null) return this.#restart(new Error(silence))
    const waiting = this.#silentPartitions(nowMs - stalledMs)
    if (waiting.length === 0) return
    const lag = await this.#place.questions.lagOf(waiting).catch(() => null)
    if (lag === null) return
    if (consumer !== this.#consumer || this.#silentPartitions(nowMs - stalledMs).length < waiting.length) return
    if (lag > 0) this.#restart(new Error(`${lag} entries wait and none was fetched for ${stalledMs} ms`))
    else for (const partition of waiting) this.#progressAtMs.set(partition, nowMs)
  }

  #silence(nowMs: number): string | null {
    const { stalledMs, silentMs } = this.#settings.watchdog
    if (nowMs - this.#fetchedAtMs > stalledMs) return `nothing was fetched for ${stalledMs} ms`
    return nowMs - this.#memberAtMs > silentMs ? `the group was silent for ${silentMs} ms` : null
  }

  #silentPartitions(sinceMs: number): readonly number[] {
    return [...this.#flows]
      .filter(([partition, flow]) => flow.isIdle && (this.#progressAtMs.get(partition) ?? 0) <= sinceMs)
      .map(([partition]) => partition)
  }

  #failed(error: unknown): void {
    const { topic, group } = this.#place.names
    this.#settings.onFailure(error, topic, group)
  }

  #restart(error: unknown): void {
    if (this.#isStopping || this.#restarting !== null) return
    this.#failed(error)
    const { first, most } = this.#settings.pace.retryMs
    const delayMs = Math.min(most, first * 2 ** this.#failures) * (0.5 + this.#settings.pace.random() / 2)
    this.#failures = Math.min(this.#failures + 1, 30)
    this.#restarting = (async () => {
      await this.#disconnect(LEAVE_MS)
      this.#starting.clear()
      for (const partition of this.#flows.keys()) this.#progressAtMs.set(partition, performance.now())
      await wait(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
    })().finally(() => {
      this.#restarting = null
      if (!this.#isStopping) void this.#connect()
    })
  }

  /** Bounded: an unreachable broker must not keep a process from ending. */
  async #disconnect(withinMs: number): Promise<void> {
    const consumer = this.#consumer
    this.#consumer = null
    if (consumer !== null) await endedWithin(consumer.disconnect(), withinMs)
  }
}

const RESUME_EVERY_MS = 50
