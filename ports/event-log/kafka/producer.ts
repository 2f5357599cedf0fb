/** Sends gathered appends to Kafka: one batch per topic at a time, retried while a caller still waits for it. */

import type { Kafka, Producer } from 'kafkajs'
import kafkajs from 'kafkajs'

import type { Topic } from '../../../domain/records.ts'

import type { Entry } from '../event-log.ts'
import { forgetSilence } from './brokers.ts'
import { LeadersMoved, type LeaderWatch } from './questions/leaders.ts'
import { Outage, OUTAGE_TIMES, type OutageTimes } from './outage.ts'
import type { KafkaAppendQueue, SendFailure, Sending } from './appends.ts'
import { within } from '../../../common/deadline.ts'

interface KafkaSenderOptions {
  readonly topicName: (topic: Topic) => string
  readonly nowMs: () => number
  readonly times: SenderTimes
  readonly leaders: LeaderWatch
  readonly news: SenderNews
}

interface SenderTimes {
  /** How long the first append of a batch waits for more to join it, in ms. */
  readonly lingerMs: number
  /** The broker gives up waiting for its replicas after this time, in ms; this side a little later. */
  readonly requestMs: number
  /** Tests set them. */
  readonly outage?: OutageTimes
}

/** Who hears what became of each batch. */
interface SenderNews {
  readonly onSent: (topic: Topic) => void
  readonly onFailure: (error: Error, topic: Topic) => void
  /** Only a new process will help. Called at most once. */
  readonly onBroken: (error: Error) => void
}

const RETRY_MS = { first: 50, most: 1_000 }
/**
 * kafkajs can hold a send for a whole outage: connecting, finding the leader and sending each have their own time-out.
 */
const STUCK_AFTER_REQUESTS = 2

export class KafkaSender {
  readonly #newClient: () => Kafka
  readonly #queue: KafkaAppendQueue
  readonly #options: KafkaSenderOptions
  readonly #busy = new Set<Topic>()
  readonly #outages = new Map<Topic, Outage>()
  #kafka: Kafka
  #isBroken = false
  #producer: Promise<Producer> | null = null
  /** How often leaders had changed when it was created. */
  #changesBefore = 0
  #isClosed = false

  /** Throws what `newClient` throws. */
  constructor(newClient: () => Kafka, queue: KafkaAppendQueue, options: KafkaSenderOptions) {
    this.#newClient = newClient
    this.#kafka = newClient()
    this.#queue = queue
    this.#options = options
  }

  /** Starts to send the appends that wait for the topic. */
  request(topic: Topic): void {
    if (this.#busy.has(topic)) return
    this.#busy.add(topic)
    setTimeout(() => void this.#drain(this.#queue.sending(topic)), this.#options.times.lingerMs)
  }

  /** Connects before the first append needs it. Failures are ignored, since appends retry. */
  async warm(): Promise<void> {
    await this.#connected().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.leaders.close()
    const producer = this.#producer
    this.#producer = null
    await producer?.then((connected) => connected.disconnect()).catch(() => undefined)
  }

  async #drain(sending: Sending): Promise<void> {
    let retryMs: number = RETRY_MS.first
    for (let entries = sending.take(); entries !== null; entries = sending.take()) {
      const failure = await this.#sendSomehow(sending.topic, entries)
      sending.settle(failure)
      if (failure === null) {
        this.#options.news.onSent(sending.topic)
        retryMs = RETRY_MS.first
        continue
      }
      this.#options.news.onFailure(failure.error, sending.topic)
      // It may succeed now, however long it could not.
      if (failure.error instanceof LeadersMoved) retryMs = RETRY_MS.first
      await new Promise((resolve) => setTimeout(resolve, retryMs))
      retryMs = Math.min(RETRY_MS.most, retryMs * 2)
    }
    this.#busy.delete(sending.topic)
  }

  /** Never throws. After failures for long, with what may help. */
  async #sendSomehow(topic: Topic, entries: readonly Entry[]): Promise<SendFailure | null> {
    const outage = this.#outages.get(topic) ?? new Outage(this.#options.times.outage ?? OUTAGE_TIMES)
    this.#outages.set(topic, outage)
    const failure = await this.#send(topic, entries)
    if (failure === null) outage.stored()
    if (failure === null || !failure.isRetriable || this.#isClosed) return failure
    const next = outage.failed(performance.now())
    if (next === 'renew') this.#renew()
    return next === 'fresh' ? this.#sendFresh({ topic, entries, outage, failure }) : failure
  }

  /** By a client that is used for nothing else. Its failure tells nothing new. */
  async #sendFresh({ topic, entries, outage, failure }: FreshTry): Promise<SendFailure | null> {
    const producer = Promise.resolve().then(() => this.#newProducer(this.#newClient()))
    try {
      const sent = this.#sendBy(producer.then(connected), topic, entries)
      await within(sent, STUCK_AFTER_REQUESTS * this.#options.times.requestMs)
    } catch {
      outage.freshFailed()
      return failure
    } finally {
      void producer.then((one) => one.disconnect()).catch(() => undefined)
    }
    if (outage.freshStored() && !this.#isBroken) {
      this.#isBroken = true
      this.#options.news.onBroken(new Error('Kafka stores what a fresh connection sends', { cause: failure.error }))
    }
    return null
  }

  #renew(): void {
    this.#discard(this.#producer)
    forgetSilence()
    try {
      this.#kafka = this.#newClient()
    } catch {
      // A file for TLS may be missing for a moment; the client that is there stays.
    }
  }

  /** Never throws, and ends in bounded time; the late success of an abandoned send is ignored. */
  async #send(topic: Topic, entries: readonly Entry[]): Promise<SendFailure | null> {
    const stuckMs = STUCK_AFTER_REQUESTS * this.#options.times.requestMs
    const { moved, end } = this.#options.leaders.watch(this.#options.topicName(topic))
    let producer: Promise<Producer> | null = null
    try {
      if (this.#isClosed) return { error: new Error('the log is closed'), isRetriable: false }
      producer = this.#connected()
      const sent = Promise.race([this.#sendBy(producer, topic, entries), moved])
      await within(sent, stuckMs, () => new Error('Kafka did not answer in time'))
      return null
    } catch (error) {
      const failure = failureOf(error)
      // A new producer looks up the leaders; kafkajs would use a dead leader until its metadata is five minutes old.
      if (failure.isRetriable) this.#discard(producer)
      return failure
    } finally {
      end()
    }
  }

  async #sendBy(producer: Promise<Producer>, topic: Topic, entries: readonly Entry[]): Promise<void> {
    const timestamp = String(this.#options.nowMs())
    const sender = await producer
    const answers = await sender.send({
      topic: this.#options.topicName(topic),
      acks: -1,
      timeout: this.#options.times.requestMs,
      messages: entries.map(({ key, value }) => ({ key, value, timestamp })),
    })
    if (answers.length === 0) throw new Error('Kafka answered for no partition')
    const refused = answers.find(({ errorCode }) => errorCode !== 0)
    if (refused !== undefined) throw new Error(`Kafka refused a batch with code ${refused.errorCode}`)
  }

  #connected(): Promise<Producer> {
    // A producer that is older than the present leaders would still use the old ones, even for topics that it never sent to.
    if (this.#changesBefore !== this.#options.leaders.changes) this.#discard(this.#producer)
    if (this.#producer !== null) return this.#producer
    this.#changesBefore = this.#options.leaders.changes
    const opened = connected(this.#newProducer(this.#kafka))
    this.#producer = opened
    opened.catch(() => {
      if (this.#producer === opened) this.#producer = null
    })
    return opened
  }

  #newProducer(kafka: Kafka): Producer {
    return kafka.producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      idempotent: false,
      retry: { retries: 0 },
    })
  }

  #discard(producer: Promise<Producer> | null): void {
    if (producer === null || this.#producer !== producer) return
    this.#producer = null
    void producer.then((connected) => connected.disconnect()).catch(() => undefined)
  }
}

interface FreshTry {
  readonly topic: Topic
  readonly entries: readonly Entry[]
  readonly outage: Outage
  /** Of the process's own client. */
  readonly failure: SendFailure
}

async function connected(producer: Producer): Promise<Producer> {
  await producer.connect()
  return producer
}

/** Errors of unknown type are retriable: a lost connection must never refuse what a retry would store. */
const FINAL_TYPES = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_TOPIC_EXCEPTION',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'UNSUPPORTED_FOR_MESSAGE_FORMAT',
]

function failureOf(thrown: unknown): SendFailure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const type: unknown = 'type' in cause ? cause.type : undefined
    if (typeof type === 'string' && FINAL_TYPES.includes(type)) return { error, isRetriable: false }
  }
  return { error, isRetriable: true }
}
