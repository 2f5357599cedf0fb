/** What a log on Kafka may be told: its bounds, its times and whom it tells of failures. */

import { LIMITS } from '../../../domain/limits.ts'
import type { Topic } from '../../../domain/records.ts'

import { IN_HAND_MS } from '../event-log.ts'
import type { MemberSettings } from './member.ts'

export interface KafkaEventLogOptions {
  /** Bounds of the appends that wait for Kafka's acknowledgement. */
  readonly maxQueuedBytes?: number
  readonly maxQueuedEntries?: number
  readonly appendDeadlineMs?: number
  readonly appendPatienceMs?: number
  /** How long the first append of a batch waits for more to join it. */
  readonly lingerMs?: number
  readonly nowMs?: () => number
  readonly retryMs?: MemberSettings['retryMs']
  readonly recheckMs?: number
  /** In [0, 1). */
  readonly random?: () => number
  readonly sessionMs?: number
  readonly heartbeatMs?: number
  readonly fetchWaitMs?: number
  readonly rebalanceMs?: number
  readonly stalledMs?: number
  readonly silentMs?: number
  readonly uncommittedMs?: number
  readonly joinMs?: number
  readonly inHandMs?: number
  readonly closeMs?: number
  /** How long a failing request to Kafka is retried, in ms. */
  readonly askForMs?: number
  /** Memory that all consumers of this log share, in bytes of values. */
  readonly maxFetchedBytes?: number
  /** Called for each handler that threw, and each failure of a consumer that is retried. */
  readonly onHandlerFailure?: MemberSettings['onFailure']
  /** Called for each failed try to store a batch. */
  readonly onAppendFailure?: (error: Error, topic: Topic) => void
  /** Called once this process stores nothing for long although a fresh connection does: only a new process will help. */
  readonly onBroken?: (error: Error) => void
}

const MIB = 1024 * 1024
/** With the stop of a consumer this must leave time to spare before a process gives up; what Kafka has not taken by then is refused. */
const CLOSE_MS = 5_000
export const KAFKA_DEFAULTS = {
  maxQueuedBytes: 24 * MIB,
  maxQueuedEntries: 100_000,
  appendDeadlineMs: LIMITS.appendDeadlineMs,
  appendPatienceMs: LIMITS.appendPatienceMs,
  lingerMs: 2,
  nowMs: Date.now,
  retryMs: { first: 100, most: 30_000 },
  recheckMs: 1_000,
  random: Math.random,
  // A killed member keeps its partitions for one session. Brokers allow no less than six seconds by default.
  sessionMs: 7_000,
  heartbeatMs: 1_500,
  rebalanceMs: 10_000,
  fetchWaitMs: 500,
  stalledMs: 15_000,
  silentMs: 13_000,
  uncommittedMs: 8_000,
  joinMs: 60_000,
  inHandMs: IN_HAND_MS,
  closeMs: CLOSE_MS,
  askForMs: 20_000,
  maxFetchedBytes: 64 * MIB,
  onHandlerFailure: () => undefined,
  onAppendFailure: () => undefined,
  onBroken: () => undefined,
} satisfies Required<KafkaEventLogOptions>
