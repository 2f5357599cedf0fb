/** Counts what the spool holds per topic, to know at any moment whether an append must queue behind it. */

import type { Topic } from '../../../domain/records.ts'

import type { Entry, SpoolHealth, StoredEntry } from '../event-log.ts'

interface TopicCount {
  entries: number
  bytes: number
  oldestAtMs: number
}

/** Approximate size of an entry besides its key and value. */
const ENTRY_OVERHEAD_BYTES = 32
/** A little less than a batch of the Kafka adapter: the last entry of a part exceeds it. */
const PART_BYTES = 850 * 1024

export function spooledBytes(entries: readonly Entry[]): number {
  let bytes = 0
  for (const { key, value } of entries) {
    bytes += ENTRY_OVERHEAD_BYTES + Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  return bytes
}

/** One part is one batch on Kafka; several at once would not keep the order. */
export function* topicParts(entries: readonly StoredEntry[]): Iterable<readonly StoredEntry[]> {
  let part: StoredEntry[] = []
  let bytes = 0
  for (const entry of entries) {
    part.push(entry)
    bytes += spooledBytes([entry])
    if (bytes < PART_BYTES) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}

/** An append stays counted as long as it may be stored: too much, never too little. */
export class SpoolCounts {
  readonly #counts = new Map<Topic, TopicCount>()
  readonly #maxBytes: number
  readonly #nowMs: () => number

  constructor(maxBytes: number, nowMs: () => number) {
    this.#maxBytes = maxBytes
    this.#nowMs = nowMs
  }

  holds(topic: Topic): boolean {
    return this.entriesOf(topic) > 0
  }

  entriesOf(topic: Topic): number {
    return this.#counts.get(topic)?.entries ?? 0
  }

  get entries(): number {
    return this.#sum(({ entries }) => entries)
  }

  get bytes(): number {
    return this.#sum(({ bytes }) => bytes)
  }

  /** No entry of these topics is older, Unix ms; infinite if there is none. */
  oldestAtMs(topics: readonly Topic[]): number {
    const held = topics.filter((topic) => this.holds(topic))
    return Math.min(...held.map((topic) => this.#counts.get(topic)?.oldestAtMs ?? Infinity))
  }

  hasRoomFor(bytes: number): boolean {
    return this.bytes + bytes <= this.#maxBytes
  }

  /** What an earlier process left behind. */
  found(topic: Topic, entries: readonly StoredEntry[]): void {
    const [first] = entries
    if (first === undefined) return
    this.#add(topic, { entries: entries.length, bytes: spooledBytes(entries), atMs: first.appendedAtMs })
  }

  /** Counts an append before it begins. */
  begin(topic: Topic, entries: number, bytes: number): void {
    this.#add(topic, { entries, bytes, atMs: this.#nowMs() })
  }

  /** It is certain that an append that was counted is not stored. */
  refused(topic: Topic, entries: number, bytes: number): void {
    const count = this.#counts.get(topic)
    if (count !== undefined) uncount(count, entries, bytes)
  }

  /** The log has stored these; `next` is the entry after them if it is known. */
  drained(topic: Topic, entries: readonly StoredEntry[], next: StoredEntry | undefined): void {
    const count = this.#counts.get(topic)
    const last = entries.at(-1)
    if (count === undefined || last === undefined) return
    uncount(count, entries.length, spooledBytes(entries))
    count.oldestAtMs = (next ?? last).appendedAtMs
  }

  /** Topics of which the spool holds entries. */
  held(): readonly Topic[] {
    return [...this.#counts].filter(([, { entries }]) => entries > 0).map(([topic]) => topic)
  }

  health(): SpoolHealth {
    const times = [...this.#counts.values()].filter(({ entries }) => entries > 0).map(({ oldestAtMs }) => oldestAtMs)
    const oldestAgeMs = times.length === 0 ? null : Math.max(0, this.#nowMs() - Math.min(...times))
    return { entries: this.entries, bytes: this.bytes, maxBytes: this.#maxBytes, oldestAgeMs }
  }

  #add(topic: Topic, more: { readonly entries: number; readonly bytes: number; readonly atMs: number }): void {
    const count = this.#counts.get(topic) ?? { entries: 0, bytes: 0, oldestAtMs: more.atMs }
    if (count.entries === 0) count.oldestAtMs = more.atMs
    count.entries += more.entries
    count.bytes += more.bytes
    this.#counts.set(topic, count)
  }

  #sum(of: (count: TopicCount) => number): number {
    let sum = 0
    for (const count of this.#counts.values()) sum += of(count)
    return sum
  }
}

function uncount(count: TopicCount, entries: number, bytes: number): void {
  count.entries = Math.max(0, count.entries - entries)
  count.bytes = count.entries === 0 ? 0 : Math.max(0, count.bytes - bytes)
}
