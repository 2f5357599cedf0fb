/** Whether the facts hold everything that is on the log: an install is not guessed at while they are behind. */

/** The consumer group that turns records into facts. */
export const FACTS_WRITER_GROUP = 'facts-writer'

/** What says which receipts are active and which revoked. */
export const RECEIPT_TOPICS = ['visits', 'activations'] as const
/** And what says which visit an installation was matched to. */
export const DECIDING_TOPICS = [...RECEIPT_TOPICS, 'installs'] as const
export type DecidingTopic = (typeof DECIDING_TOPICS)[number]

/** An offset for each partition, in their order. */
export type Offsets = readonly number[]
/** Where the log ended, by topic, when an install was first seen: all that happened before it lies below. */
export type LogEnds = { readonly [T in DecidingTopic]: Offsets }

export function hasReached(done: Offsets, ends: Offsets): boolean {
  return ends.every((end, partition) => (done[partition] ?? 0) >= end)
}
