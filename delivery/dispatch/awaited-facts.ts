/**
 * What an install waits for before it can go on: facts that were on the log when dispatch first saw it. Their position is read
 * before the facts are, so that these contain everything up to it. What the log does not say now counts as not reached, and is asked
 * again: an install waits too long rather than that it is decided too early.
 */

import {
  AWAITED_TOPICS,
  FACTS_WRITER_GROUP,
  firstKnownEnds,
  hasReached,
  INSTALLATION_TOPICS,
  UNKNOWN_ENDS,
  type AwaitedTopic,
  type LogEnds,
  type Offsets,
} from '../../domain/collection/facts-lag.ts'
import type { Batch, LogProgress } from '../../ports/event-log/event-log.ts'
import { isGivenUp, isPending, withoutEnds, type Arrival } from './decide-pending.ts'

type Log = LogProgress

interface Awaiting<A> {
  readonly due: readonly A[]
  readonly waiting: readonly A[]
}

interface WaitingFor<A> {
  readonly eventLog: Log
  readonly nowMs: () => number
  /** Whether an install that is decided depends on the other events of its installation. */
  readonly needsInstallation?: (arrival: A) => boolean
}

/**
 * A pending install, and one that depends on its installation, wait for what was on the log when they were first seen; later entries do not matter for
 * them.
 */
export async function whoIsDue<A extends Arrival>(
  arrivals: readonly A[],
  { eventLog, nowMs, needsInstallation = () => false }: WaitingFor<A>,
): Promise<Awaiting<A>> {
  const topicsOf = (arrival: A): readonly AwaitedTopic[] => {
    if (isPending(arrival)) return AWAITED_TOPICS
    return needsInstallation(arrival) ? INSTALLATION_TOPICS : []
  }
  const awaited = new Set(arrivals.flatMap((arrival) => [...topicsOf(arrival), ...topicsIn(arrival.ends ?? {})]))
  if (awaited.size === 0) return { due: arrivals, waiting: [] }
  const { done, ends: endsNow } = await readLogProgress(eventLog, [...awaited])
  const due: A[] = []
  const waiting: A[] = []
  for (const arrival of arrivals) {
    const topics = topicsOf(arrival)
    const ends = topics.length > 0 ? endsSeen(topics, arrival.ends, endsNow) : (arrival.ends ?? {})
    const isDue = areReached(done, ends) || isGivenUp(arrival, nowMs())
    if (!isDue) waiting.push({ ...arrival, ends })
    else due.push(topics.length > 0 ? { ...arrival, ends } : withoutEnds(arrival))
  }
  return { due, waiting }
}

const ALL_TOPICS: readonly AwaitedTopic[] = [...new Set([...AWAITED_TOPICS, ...INSTALLATION_TOPICS])]

function topicsIn(ends: LogEnds): readonly AwaitedTopic[] {
  return ALL_TOPICS.filter((topic) => ends[topic] !== undefined)
}

/** As they were when the install was first seen; what was not known of them then, as they are now. */
function endsSeen(topics: readonly AwaitedTopic[], noted: LogEnds | undefined, now: LogEnds): LogEnds {
  return Object.fromEntries(
    topics.map((topic) => [topic, firstKnownEnds(noted?.[topic] ?? [], now[topic] ?? UNKNOWN_ENDS)]),
  )
}

function areReached(done: LogEnds, ends: LogEnds): boolean {
  return topicsIn(ends).every((topic) => hasReached(done[topic] ?? [], ends[topic] ?? UNKNOWN_ENDS))
}

async function readLogProgress(
  log: Log,
  topics: readonly AwaitedTopic[],
): Promise<{ readonly done: LogEnds; readonly ends: LogEnds }> {
  const progress = await Promise.all(topics.map((topic) => progressOf(log, topic)))
  const byTopic = (of: 'done' | 'ends'): LogEnds =>
    Object.fromEntries(topics.map((topic, place) => [topic, progress[place]?.[of] ?? UNKNOWN_ENDS]))
  return { done: byTopic('done'), ends: byTopic('ends') }
}

/** If the log gives no answer nothing is known of the topic; the other installs of the batch need not wait for that. */
function progressOf(log: Log, topic: AwaitedTopic): Promise<{ readonly done: Offsets; readonly ends: Offsets }> {
  return log.progress(topic, FACTS_WRITER_GROUP).catch(() => ({ done: UNKNOWN_ENDS, ends: UNKNOWN_ENDS }))
}

interface Passage {
  /** The first entry that this process has seen of the partition, in a row with all later ones. */
  readonly fromOffset: number
  nextOffset: number
  /** Whether the facts are known to have everything before it. */
  isComplete: boolean
}

/**
 * Tells whether an event of an install may have an earlier record that is known neither here nor to the facts. From its first batch of a
 * partition on, this process has seen each record; what lies before it, another process had, and may have
 * parked. So only the first seconds after taking over a partition are uncertain, and cost a question.
 */
export class Passages {
  readonly #log: Log
  readonly #byPartition = new Map<number, Passage>()

  constructor(log: Log) {
    this.#log = log
  }

  /** What the records of this batch of installs must wait for; undefined if nothing. */
  async endsFor({ partition, entries }: Batch): Promise<LogEnds | undefined> {
    const passage = this.#enter(partition, entries[0]?.offset ?? 0)
    passage.nextOffset = (entries.at(-1)?.offset ?? 0) + 1
    if (passage.isComplete) return undefined
    const { done } = await progressOf(this.#log, 'installs')
    const installs = [...Array<number>(partition).fill(0), passage.fromOffset]
    passage.isComplete = hasReached(done, installs)
    return passage.isComplete ? undefined : { installs }
  }

  /** A gap in the offsets shows that another process had the partition meanwhile. */
  #enter(partition: number, offset: number): Passage {
    const known = this.#byPartition.get(partition)
    if (known !== undefined && offset <= known.nextOffset) return known
    const passage = { fromOffset: offset, nextOffset: offset, isComplete: offset === 0 }
    this.#byPartition.set(partition, passage)
    return passage
  }
}
