/**
 * Whether the facts have caught up with the log. While they lag, or while it is not known that they do not, what they lack may still
 * come: nobody decides by its absence.
 */

/** The consumer group that turns records into facts. */
export const FACTS_WRITER_GROUP = 'facts-writer'

/** Topics that decide which receipts are active and which are revoked. */
export const RECEIPT_TOPICS = ['visits', 'activations'] as const
/** The same, and the topic that decides which visit an installation was matched to. */
const DECIDING_TOPICS = [...RECEIPT_TOPICS, 'installs'] as const
export type DecidingTopic = (typeof DECIDING_TOPICS)[number]
/** The same, and what was decided before, perhaps by a process that is gone: all that dispatch waits for. */
export const AWAITED_TOPICS = [...DECIDING_TOPICS, 'install_decisions'] as const
/** What it waits for before it judges an installation: its events, what was decided of them, and what of them was delivered. */
export const INSTALLATION_TOPICS = ['installs', 'install_decisions', 'deliveries'] as const
export type AwaitedTopic = (typeof AWAITED_TOPICS)[number] | (typeof INSTALLATION_TOPICS)[number]

/** One offset per partition, in order; null where it is not known, for example because the partition has no leader. */
export type Offsets = readonly (number | null)[]
/** Ends of a topic of which not even the number of partitions is known. */
export const UNKNOWN_ENDS: Offsets = [null]
/**
 * How far the facts must have come before an install can go on, by topic: to the ends of the log, read after the install was, as
 * everything before it has a lower offset. Nothing of an absent topic matters.
 */
export type LogEnds = { readonly [T in AwaitedTopic]?: Offsets }

/**
 * Whether everything below the ends is done, partition by partition. The ends must have been read after the event in question was
 * received. A partition with an unknown end or position is behind, and so is a topic without partitions: nothing is known of it.
 */
export function hasReached(done: Offsets, ends: Offsets): boolean {
  return ends.length > 0 && ends.every((end, partition) => end !== null && (end <= 0 || isDone(done[partition], end)))
}

function isDone(position: number | null | undefined, end: number): boolean {
  return position !== null && position !== undefined && position >= end
}

/** The ends as they were noted first. Where one was not known then, or the partition was not seen, a later one counts. */
export function firstKnownEnds(noted: Offsets, later: Offsets): Offsets {
  const partitions = Math.max(noted.length, later.length)
  return Array.from({ length: partitions }, (_, partition) => noted[partition] ?? later[partition] ?? null)
}
