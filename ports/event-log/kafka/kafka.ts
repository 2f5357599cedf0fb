/** EventLog on Kafka: gathered appends acknowledged by all in-sync replicas, consumer groups with explicit commits. */

import { setTimeout as wait } from 'node:timers/promises'

import type { Admin, Kafka } from 'kafkajs'

import { LIMITS } from '../../../domain/limits.ts'
import type { Topic } from '../../../domain/records.ts'

import type {
  AppendOptions,
  BatchHandler,
  ConsumeOptions,
  Consumer,
  Entry,
  EventLog,
  EventLogHealth,
  LogRefusal,
  Newest,
  StoredEntry,
  TopicLag,
  TopicProgress,
} from '../event-log.ts'
import { LogUnavailable, TopicUnavailable } from '../event-log.ts'
import { patienceOf } from '../append-patience.ts'
import { kafkaEntryBytes, KafkaAppendQueue } from './appends.ts'
import { kafkaClient, QUESTION_MS, logUnavailable } from './client.ts'
import type { MemberSettings } from './consumer.ts'
import { startMember } from './consumer.ts'
import { allLags, lagOf, offsetsSince, positionsOf, topicRanges } from './questions/positions.ts'
import { leaderSources, leaderWatch } from './questions/leaders.ts'
import { KafkaSender } from './producer.ts'
import { progressQuestions } from './questions/progress.ts'
import { kafkaRules, type KafkaEventLogOptions, type KafkaRules } from './options.ts'
import { newestEntries, TopicReader } from './reader.ts'
import { openTopicBounds, type TopicBounds } from './questions/topic-bounds.ts'
import type { KafkaSettings } from './url.ts'
import { DemandedTopics, isThere, startWhenThere } from './demand.ts'
import { ALL_TOPICS, isAlwaysThere } from './topic-groups.ts'
import { endedWithin, within } from '../../../common/deadline.ts'
import { NoBrokerAnswers } from './topics.ts'

export { checkKafkaTopics, requireSafeTopics, UnsafeTopics } from './topics.ts'

const KIB = 1024
/** All of a batch may go to one partition; brokers take about a megabyte there. */
const BATCH_BYTES = 900 * KIB
/** Above this, an entry could be too large for some brokers even as a batch of its own. */
const MAX_ENTRY_BYTES = 900 * KIB
const FETCHED_BYTES_PER_PARTITION = 4 * KIB * KIB
const REQUEST_MS = 5_000
/** Memory that all consumers of a log share, in bytes of values. */
const MAX_FETCHED_BYTES = 64 * KIB * KIB
/** How long the first append of a batch waits for more to join it. */
const LINGER_MS = 2
/** How long a failing request to Kafka is retried. */
const ASK_FOR_MS = 20_000
/** With the stop of a consumer these must leave time to spare before a process gives up; what Kafka has not taken by then is refused. */
const CLOSE_MS = 5_000
const LEAVE_MS = 1_000
const ASK_AGAIN_MS = 500
const WARM_MS = 3_000
/** After a failure the log reports for this long that it refuses appends, unless something of the same topic is stored. */
const FAILURE_SHOWN_MS = 5_000

/**
 * Opens the log, even if brokers are unreachable. Topics that are always there must exist (`whencectl migrate`). Throws if a TLS file cannot be
 * read.
 */
export async function kafkaEventLog(settings: KafkaSettings, options: KafkaEventLogOptions = {}): Promise<EventLog> {
  const log = new LogInKafka(settings, kafkaRules(options))
  await log.warm()
  return log
}

class LogInKafka implements EventLog {
  readonly #settings: KafkaSettings
  readonly #rules: KafkaRules
  readonly #kafka: Kafka
  readonly #queue: KafkaAppendQueue
  readonly #sender: KafkaSender
  readonly #consumers = new Set<Consumer>()
  readonly #readers = new Map<Topic, TopicReader>()
  readonly #demanded: DemandedTopics
  readonly #budget = { bytes: 0, maxBytes: MAX_FETCHED_BYTES }
  readonly #bounds: TopicBounds
  readonly #progress: ReturnType<typeof progressQuestions>
  #admin: Promise<Admin> | null = null
  #lastAppendAtMs: number | null = null
  #lastFetchAtMs: number | null = null
  /** By topic, until something of it is stored. */
  readonly #failedAtMs = new Map<Topic, number>()
  #isClosed = false

  constructor(settings: KafkaSettings, rules: KafkaRules) {
    const { nowMs, bounds, listener } = rules
    this.#settings = settings
    this.#rules = rules
    this.#queue = new KafkaAppendQueue({ ...bounds, batchBytes: BATCH_BYTES })
    this.#kafka = kafkaClient(settings, { requestMs: QUESTION_MS })
    this.#demanded = new DemandedTopics(settings)
    this.#bounds = openTopicBounds(settings)
    this.#progress = progressQuestions(
      (groupId, topicName) => this.#askOnce((admin) => positionsOf(admin, groupId, topicName)),
      (topicName) => this.#bounds.of(topicName),
    )
    this.#sender = new KafkaSender(() => kafkaClient(settings, { requestMs: REQUEST_MS }), this.#queue, {
      topicName: (topic) => this.#topicName(topic),
      nowMs,
      times: { lingerMs: LINGER_MS, requestMs: REQUEST_MS },
      leaders: leaderWatch(leaderSources(settings)),
      news: {
        onSent: (topic) => {
          this.#lastAppendAtMs = nowMs()
          this.#failedAtMs.delete(topic)
        },
        onFailure: (error, topic) => {
          this.#failedAtMs.set(topic, performance.now())
          listener.onAppendFailure(error, topic)
        },
        onBroken: listener.onBroken,
      },
    })
  }

  async warm(): Promise<void> {
    await endedWithin(this.#sender.warm(), WARM_MS)
  }

  append(topic: Topic, entries: readonly Entry[], options?: AppendOptions): Promise<void> {
    if (this.#isClosed) return Promise.reject(new LogUnavailable('the log is closed'))
    if (entries.length === 0) return Promise.resolve()
    if (entries.some((entry) => kafkaEntryBytes(entry) > MAX_ENTRY_BYTES)) {
      return Promise.reject(new RangeError(`an entry is above ${MAX_ENTRY_BYTES} bytes`))
    }
    const patience = patienceOf(options)
    if (this.#demanded.isKnown(topic)) return this.#add(topic, entries, patience)
    const late = () => new TopicUnavailable(`the topic ${topic} could not be made in time`)
    return within(this.prepare(topic), patience.deadlineMs, late).then(() => this.#add(topic, entries, patience))
  }

  #add(topic: Topic, entries: readonly Entry[], patience: ReturnType<typeof patienceOf>): Promise<void> {
    const appended = this.#queue.add(topic, entries, patience)
    this.#sender.request(topic)
    return appended
  }

  async prepare(topic: Topic): Promise<void> {
    try {
      await this.#demanded.make(topic)
    } catch (error) {
      if (error instanceof NoBrokerAnswers) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new TopicUnavailable(`the topic ${topic} could not be made: ${why}`, { cause: error })
    }
  }

  async consume(topic: Topic, group: string, handler: BatchHandler, options: ConsumeOptions): Promise<Consumer> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    const start = () => this.#startMember(topic, group, handler, options)
    const look = () => this.#ask((admin) => isThere(admin, this.#topicName(topic)))
    if (isAlwaysThere(topic) || (await look())) return start()
    const onFailure = (error: unknown): void => this.#rules.listener.onHandlerFailure(error, topic, group)
    const awaited = startWhenThere({ isThere: look, start, onFailure })
    return this.#closedWithLog(awaited)
  }

  async #startMember(topic: Topic, group: string, handler: BatchHandler, options: ConsumeOptions): Promise<Consumer> {
    const topicName = this.#topicName(topic)
    const groupId = `${this.#settings.prefix}${group}:${topic}`
    const member = await startMember(
      {
        kafka: this.#kafka,
        names: { topic, topicName, group, groupId },
        handler,
        options,
        questions: {
          lagOf: (partitions) => this.#ask((admin) => lagOf(admin, { groupId, topicName, partitions })),
          offsetsSince: (sinceMs) => this.#ask((admin) => offsetsSince(admin, topicName, sinceMs)),
          positions: () => this.#ask((admin) => positionsOf(admin, groupId, topicName)),
          newestOf: (partitions) => this.#newestOf(groupId, topicName, partitions),
        },
      },
      this.#memberSettings(),
    )
    return this.#closedWithLog(member)
  }

  /** The consumer, which the log closes if nobody else does before. */
  #closedWithLog(consumer: Consumer): Consumer {
    this.#consumers.add(consumer)
    return {
      rewind: (sinceMs) => consumer.rewind(sinceMs),
      close: async () => {
        await consumer.close()
        this.#consumers.delete(consumer)
      },
    }
  }

  async read(topic: Topic, fromOffset: number, maxEntries: number): Promise<readonly StoredEntry[]> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    return this.#tryAgain(() => this.#reader(topic).read(fromOffset, maxEntries))
  }

  readLast(topic: Topic, newest: Newest): AsyncIterable<readonly StoredEntry[]> {
    const topicName = this.#topicName(topic)
    if ('from' in newest) return this.#bounds.entriesFrom(topicName, newest.from)
    return newestEntries(newest, {
      ranges: () => this.#ask((admin) => topicRanges(admin, topicName)),
      offsetsSince: (sinceMs) => this.#ask((admin) => offsetsSince(admin, topicName, sinceMs)),
      read: (ranges, maxEntries) => {
        if (this.#isClosed) throw new LogUnavailable('the log is closed')
        return this.#tryAgain(() => this.#reader(topic).readRanges(ranges, maxEntries))
      },
    })
  }

  async lag(): Promise<readonly TopicLag[]> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    const names = {
      topicName: (topic: Topic) => this.#topicName(topic),
      parse: (groupId: string) => this.#parseGroup(groupId),
    }
    return this.#ask((admin) => allLags(admin, names))
  }

  async progress(topic: Topic, group: string): Promise<TopicProgress> {
    if (this.#isClosed) throw new LogUnavailable('the log is closed')
    return this.#progress(`${this.#settings.prefix}${group}:${topic}`, this.#topicName(topic))
  }

  health(): EventLogHealth {
    const refuses = this.#refusal()
    return {
      isAccepting: refuses === null,
      refuses,
      queuedBytes: this.#queue.bytes,
      maxQueuedBytes: this.#rules.bounds.maxBytes,
      lastAppendAtMs: this.#lastAppendAtMs,
      lastFetchAtMs: this.#lastFetchAtMs,
    }
  }

  #refusal(): LogRefusal | null {
    const isRecent = (atMs: number): boolean => performance.now() - atMs < FAILURE_SHOWN_MS
    if (this.#isClosed) return 'closed'
    if (this.#queue.isFull) return 'queue_full'
    if ([...this.#failedAtMs.values()].some(isRecent)) return 'failing'
    const isLate = this.#queue.stuckMs > LIMITS.appendDeadlineMs || isRecent(this.#queue.expiredAtMs)
    return isLate ? 'late' : null
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const ending = [...this.#consumers].map((consumer) => consumer.close())
    for (const reader of this.#readers.values()) ending.push(reader.close())
    await endedWithin(Promise.all([this.#queue.drained(), ...ending]), CLOSE_MS)
    this.#bounds.close()
    const admin = this.#admin
    this.#admin = null
    await endedWithin(Promise.all([this.#sender.close(), admin?.then((connected) => connected.disconnect())]), LEAVE_MS)
  }

  #topicName(topic: Topic): string {
    return `${this.#settings.prefix}${topic}`
  }

  #reader(topic: Topic): TopicReader {
    const known = this.#readers.get(topic)
    if (known !== undefined) return known
    const reader = new TopicReader({
      kafka: this.#kafka,
      ask: (question) => this.#askOnce(question),
      topicName: this.#topicName(topic),
      groupPrefix: this.#settings.prefix,
      onIdle: () => {
        if (this.#readers.get(topic) === reader) this.#readers.delete(topic)
        void reader.close()
      },
    })
    this.#readers.set(topic, reader)
    return reader
  }

  #parseGroup(groupId: string): { readonly group: string; readonly topic: Topic } | null {
    const { prefix } = this.#settings
    const colon = groupId.lastIndexOf(':')
    const topic = ALL_TOPICS.find((known) => known === groupId.slice(colon + 1))
    if (!groupId.startsWith(prefix) || colon < prefix.length || topic === undefined) return null
    return { group: groupId.slice(prefix.length, colon), topic }
  }

  #memberSettings(): MemberSettings {
    const { nowMs, pace, membership, watchdog, listener } = this.#rules
    const onFetch = (): void => void (this.#lastFetchAtMs = nowMs())
    const fetching = { budget: this.#budget, maxBytesPerPartition: FETCHED_BYTES_PER_PARTITION, onFetch }
    return { nowMs, pace, membership, watchdog, fetching, onFailure: listener.onHandlerFailure }
  }

  async #newestOf(
    groupId: string,
    topicName: string,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, number>> {
    const [positions, ranges] = await this.#ask((admin) =>
      Promise.all([positionsOf(admin, groupId, topicName), topicRanges(admin, topicName)]),
    )
    const isNew = ({ partition }: { partition: number }): boolean =>
      partitions.includes(partition) && !positions.has(partition)
    return new Map(ranges.filter(isNew).map(({ partition, end }) => [partition, end]))
  }

  /** Sends Kafka a request, and retries it for a while: another broker may be about to take over. */
  #ask<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    return this.#tryAgain(() => this.#askOnce(question))
  }

  async #tryAgain<T>(act: () => Promise<T>): Promise<T> {
    const endAtMs = performance.now() + ASK_FOR_MS
    for (;;) {
      try {
        return await act()
      } catch (error) {
        if (this.#isClosed || performance.now() > endAtMs) throw logUnavailable('Kafka did not answer a request', error)
        await wait(ASK_AGAIN_MS)
      }
    }
  }

  /**
   * After a failure the next request gets a new connection: kafkajs would keep using leaders it knows for five minutes.
   */
  async #askOnce<T>(question: (admin: Admin) => Promise<T>): Promise<T> {
    const connecting = this.#connectedAdmin()
    try {
      return await question(await connecting)
    } catch (error) {
      if (this.#admin === connecting) this.#admin = null
      void connecting.then((admin) => admin.disconnect()).catch(() => undefined)
      throw error
    }
  }

  #connectedAdmin(): Promise<Admin> {
    if (this.#admin !== null) return this.#admin
    const admin = this.#kafka.admin()
    this.#admin = admin.connect().then(() => admin)
    return this.#admin
  }
}
