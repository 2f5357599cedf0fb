/** What a log on Kafka may be told: its bounds, its times and whom it tells of failures. */

import type { Topic } from '../../../domain/records.ts'

import { CONSUMER_PACE, type ConsumerPace } from '../batch-pace.ts'
import type { AppendBounds } from '../waiting-appends.ts'
import type { MembershipTimes, WatchdogTimes } from './member.ts'

export interface KafkaEventLogOptions {
  readonly nowMs?: () => number
  /** Of the appends that wait for Kafka's acknowledgement. */
  readonly bounds?: Partial<AppendBounds>
  readonly pace?: Partial<ConsumerPace>
  readonly membership?: Partial<MembershipTimes>
  readonly watchdog?: Partial<WatchdogTimes>
  readonly listener?: Partial<KafkaListener>
}

/** Who hears of failures. */
interface KafkaListener {
  /** Called for each handler that threw, and each failure of a consumer that is retried. */
  readonly onHandlerFailure: (error: unknown, topic: Topic, group: string) => void
  /** Called for each failed try to store a batch. */
  readonly onAppendFailure: (error: Error, topic: Topic) => void
  /** Called once this process stores nothing for long although a fresh connection does: only a new process will help. */
  readonly onBroken: (error: Error) => void
}

const MIB = 1024 * 1024
const BOUNDS: AppendBounds = { maxBytes: 24 * MIB, maxEntries: 100_000 }
const MEMBERSHIP: MembershipTimes = {
  // A killed member keeps its partitions for one session. Brokers allow no less than six seconds by default.
  sessionMs: 7_000,
  heartbeatMs: 1_500,
  rebalanceMs: 10_000,
  fetchWaitMs: 500,
  joinMs: 60_000,
}
const WATCHDOG: WatchdogTimes = { stalledMs: 15_000, silentMs: 13_000, uncommittedMs: 8_000 }
const NOBODY: KafkaListener = {
  onHandlerFailure: () => undefined,
  onAppendFailure: () => undefined,
  onBroken: () => undefined,
}

/** What was not said, by its default. */
export function kafkaRules({ nowMs = Date.now, ...given }: KafkaEventLogOptions) {
  return {
    nowMs,
    bounds: { ...BOUNDS, ...given.bounds },
    pace: { ...CONSUMER_PACE, ...given.pace },
    membership: { ...MEMBERSHIP, ...given.membership },
    watchdog: { ...WATCHDOG, ...given.watchdog },
    listener: { ...NOBODY, ...given.listener },
  }
}

export type KafkaRules = ReturnType<typeof kafkaRules>
