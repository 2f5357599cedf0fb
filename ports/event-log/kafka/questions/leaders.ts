/**
 * Notices that other brokers now lead a topic, for sends that wait for a broker that has stopped.
 *
 * Such a send ends by itself only when its request times out, seconds after Kafka has given the partitions to other brokers:
 * kafkajs looks up the leaders again only after a failure, and silence is not a failure. While a send takes long, each broker of
 * the list is therefore asked over a connection of its own, so that a silent broker does not delay the others' answers.
 */

import { every, type Repetition } from '../../../../common/every.ts'
import { brokerLine, type BrokerLine, type LedPartition } from './broker-line.ts'
import type { KafkaSettings } from '../url.ts'

/** Who leads the partitions of a topic, as a text that differs if a leader does; by the topic's name on the brokers. */
export type Leaders = ReadonlyMap<string, string>

/** Asks one broker only. */
export interface LeaderSource {
  /** Rejects if it gives no answer in time. */
  ask(topics: readonly string[]): Promise<Leaders>
  /** Closes its connection; the next question opens a new one. */
  rest(): void
}

/** A send was given up because other brokers now lead its topic. */
export class LeadersMoved extends Error {
  constructor() {
    super('other brokers now lead the topic')
  }
}

export interface LeaderWatch {
  /** How often other brokers were found to lead a topic. A client that looked up leaders before the last time may have old ones. */
  readonly changes: number
  /** `moved` rejects with `LeadersMoved` when the topic's leaders differ from those at the start of the send, as far as known. */
  watch(topicName: string): { readonly moved: Promise<never>; readonly end: () => void }
  close(): void
}

interface WatchedTopic {
  readonly topicName: string
  readonly sinceMs: number
  /** From the last answer before the send began, or the first one since. */
  leaders: string | undefined
  readonly reject: (error: Error) => void
}

const LOOK_MS = 250
/** A send that takes this long is slow, or its broker has stopped. */
const SLOW_MS = 500
/** An older answer says nothing about the leaders when a send began; after this time without sends no broker is asked any more. */
const FRESH_MS = 3_000

/** One for each broker of the address. Throws if a TLS file cannot be read. */
export function leaderSources(settings: KafkaSettings): readonly LeaderSource[] {
  return settings.brokers.map((address) => leaderSource(brokerLine(settings, address)))
}

export function leaderWatch(sources: readonly LeaderSource[]): LeaderWatch {
  const watched = new Set<WatchedTopic>()
  const polls = sources.map((source): Poll => ({ source, isAsked: false, answer: null }))
  const known = new Map<string, string>()
  let changes = 0
  let slowAtMs = Number.NEGATIVE_INFINITY
  let looks: Repetition | null = null
  const rest = (): void => {
    known.clear()
    for (const poll of polls) {
      poll.answer = null
      poll.source.rest()
    }
  }
  const note = (): void => {
    for (const [topicName, leaders] of agreed(polls.map(({ answer }) => answer))) {
      if ((known.get(topicName) ?? leaders) !== leaders) changes++
      known.set(topicName, leaders)
    }
    for (const one of watched) rejectIfMoved(one, known.get(one.topicName))
  }
  // Each one separately: a silent broker does not delay the others.
  const ask = async (poll: Poll, topics: readonly string[]): Promise<void> => {
    poll.isAsked = true
    poll.answer = await poll.source.ask(topics).catch(() => null)
    poll.isAsked = false
    note()
  }
  const look = (): void => {
    const nowMs = performance.now()
    if ([...watched].some(({ sinceMs }) => nowMs - sinceMs >= SLOW_MS)) slowAtMs = nowMs
    if (nowMs - slowAtMs > FRESH_MS) return known.size > 0 ? rest() : undefined
    const topics = [...new Set([...watched].map(({ topicName }) => topicName))]
    if (topics.length > 0) for (const poll of polls) if (!poll.isAsked) void ask(poll, topics)
  }
  return {
    get changes() {
      return changes
    },
    watch(topicName) {
      looks ??= every(LOOK_MS, look, { firstMs: LOOK_MS, onFailure: () => undefined })
      const { promise: moved, reject } = Promise.withResolvers<never>()
      moved.catch(() => undefined)
      const one: WatchedTopic = { topicName, sinceMs: performance.now(), leaders: known.get(topicName), reject }
      watched.add(one)
      return { moved, end: () => void watched.delete(one) }
    },
    close() {
      void looks?.close()
      rest()
    },
  }
}

interface Poll {
  readonly source: LeaderSource
  isAsked: boolean
  /** The last answer; null if there was none. */
  answer: Leaders | null
}

function rejectIfMoved(one: WatchedTopic, leaders: string | undefined): void {
  if (leaders === undefined) return
  one.leaders ??= leaders
  if (one.leaders !== leaders) one.reject(new LeadersMoved())
}

/** Topics on which all brokers that answered agree: it does not matter which of them is asked next. */
function agreed(answers: readonly (Leaders | null)[]): Leaders {
  const told = answers.filter((answer) => answer !== null)
  return new Map([...(told[0] ?? [])].filter(([topic, leaders]) => told.every((one) => one.get(topic) === leaders)))
}

function leaderSource(line: BrokerLine): LeaderSource {
  return {
    async ask(topicNames) {
      const { topics } = await line.view(topicNames)
      // While a partition has no leader, nobody else leads it yet.
      const led = [...topics].filter(([, partitions]) => partitions.every(({ leader }) => leader !== null))
      return new Map(led.map(([topicName, partitions]) => [topicName, leadersText(partitions)]))
    },
    rest: () => line.rest(),
  }
}

function leadersText(partitions: readonly LedPartition[]): string {
  return partitions
    .toSorted((one, other) => one.partition - other.partition)
    .map(({ leader }) => leader)
    .join()
}
