/** Whether the facts have caught up with the log: while they lag, an install is not resolved by guessing. */

/** The consumer group that turns records into facts. */
export const FACTS_WRITER_GROUP = 'facts-writer'

/** Topics that decide which receipts are active and which are revoked. */
export const RECEIPT_TOPICS = ['visits', 'activations'] as const
/** The same, and the topic that decides which visit an installation was matched to. */
const DECIDING_TOPICS = [...RECEIPT_TOPICS, 'installs'] as const
export type DecidingTopic = (typeof DECIDING_TOPICS)[number]
/** The same, and what was decided before, perhaps by a process that is gone: all that dispatch waits for. */
export const AWAITED_TOPICS = [...DECIDING_TOPICS, 'install_decisions'] as const
type AwaitedTopic = (typeof AWAITED_TOPICS)[number]

/** One offset per partition, in order. */
export type Offsets = readonly number[]
/**
 * How far the facts must have come before an install can go on, by topic: to the ends of the log when it was first seen, as everything
 * before it has a lower offset. Nothing of an absent topic matters.
 */
export type LogEnds = { readonly [T in AwaitedTopic]?: Offsets }

export function hasReached(done: Offsets, ends: Offsets): boolean {
  return ends.every((end, partition) => (done[partition] ?? 0) >= end)
}
