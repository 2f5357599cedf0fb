/** Topics that exist only once something needs them: an append makes them, and consumers wait until they are there. */

import type { Admin } from 'kafkajs'

import type { Topic } from '../../../domain/records.ts'

import { IN_HAND_MS, type Consumer } from '../event-log.ts'
import { endedWithin } from '../../../common/deadline.ts'
import { every } from '../../../common/every.ts'
import { setMadeWith, type TopicSet } from './topic-groups.ts'
import { checkKafkaTopics, UnsafeTopics } from './topics.ts'
import type { KafkaSettings } from './url.ts'

/** How late a consumer can be for the first entry that there ever was. */
const LOOK_EVERY_MS = 1_000
/** It may just be joining its group, which takes as long as the brokers like. */
const CLOSE_MS = IN_HAND_MS + 5_000
const UNKNOWN_TOPIC = 'UNKNOWN_TOPIC_OR_PARTITION'

/** Makes them, and remembers which are there. */
export class DemandedTopics {
  readonly #settings: KafkaSettings
  readonly #there = new Set<TopicSet>()
  readonly #making = new Map<TopicSet, Promise<void>>()

  constructor(settings: KafkaSettings) {
    this.#settings = settings
  }

  /** Whether the topic can be used at once, as far as this process knows. */
  isKnown(topic: Topic): boolean {
    const set = setMadeWith(topic)
    return set === null || this.#there.has(set)
  }

  /**
   * Makes the topic and those that are of use only with it, unless they are there; several processes may do so at once. Rejects with
   * `LogUnavailable` or `UnsafeTopics`.
   */
  make(topic: Topic): Promise<void> {
    const set = setMadeWith(topic)
    if (set === null || this.#there.has(set)) return Promise.resolve()
    const known = this.#making.get(set)
    if (known !== undefined) return known
    const made = this.#make(set).finally(() => this.#making.delete(set))
    this.#making.set(set, made)
    return made
  }

  async #make(set: TopicSet): Promise<void> {
    const topics = set.topics.map(([topic]) => topic)
    const { problems } = await checkKafkaTopics(this.#settings, { create: 'all', topics })
    if (problems.length > 0 && !this.#settings.layout.isUnsafeAllowed) throw new UnsafeTopics(problems)
    this.#there.add(set)
  }
}

/** Never makes the topic. */
export async function isThere(admin: Admin, topicName: string): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topicName] })
    return topics.length > 0
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === UNKNOWN_TOPIC) return false
    throw error
  }
}

interface AwaitedConsumer {
  readonly isThere: () => Promise<boolean>
  readonly start: () => Promise<Consumer>
  readonly onFailure: (error: unknown) => void
}

/** A consumer that begins when its topic is there, with the oldest entry: none was appended before. */
export function startWhenThere({ isThere: isMade, start, onFailure }: AwaitedConsumer): Consumer {
  let member: Consumer | null = null
  const look = every(
    LOOK_EVERY_MS,
    async (signal) => {
      if (!(await isMade()) || signal.aborted) return LOOK_EVERY_MS
      member = await start()
      return Infinity
    },
    { firstMs: LOOK_EVERY_MS, onFailure },
  )
  return {
    // Before it began there was nothing to go back to.
    rewind: async (sinceMs) => member?.rewind(sinceMs),
    close: async () => {
      const ended = look.close().then(() => member?.close())
      await endedWithin(ended, CLOSE_MS)
    },
  }
}
