/** Counts what the spool holds per topic, to know at any moment whether an append must queue behind it. */

import type { Topic } from '../../../domain/records.ts'

import type { Entry, SpoolHealth, StoredEntry } from '../event-log.ts'

interface SpoolLane {
  entries: number
  bytes: number
  /** Appends to the spool that have not ended. */
  underWay: number
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
export function* laneParts(entries: readonly StoredEntry[]): Iterable<readonly StoredEntry[]> {
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

/** An append with an unknown outcome stays counted until its topic is found empty: too much, never too little. */
export class SpoolLanes {
  readonly #lanes = new Map<Topic, SpoolLane>()
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
    return this.#lanes.get(topic)?.entries ?? 0
  }

  get entries(): number {
    return this.#sum(({ entries }) => entries)
  }

  get bytes(): number {
    return this.#sum(({ bytes }) => bytes)
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

  /** Counts an append before it begins; call the returned function when it has ended. */
  begin(topic: Topic, entries: number, bytes: number): () => void {
    const lane = this.#add(topic, { entries, bytes, atMs: this.#nowMs() })
    lane.underWay++
    return () => void lane.underWay--
  }

  /** The log has taken these; `next` is the entry after them if it is known. */
  drained(topic: Topic, entries: readonly StoredEntry[], next: StoredEntry | undefined): void {
    const lane = this.#lanes.get(topic)
    const last = entries.at(-1)
    if (lane === undefined || last === undefined) return
    lane.entries = Math.max(0, lane.entries - entries.length)
    lane.bytes = lane.entries === 0 ? 0 : Math.max(0, lane.bytes - spooledBytes(entries))
    lane.oldestAtMs = (next ?? last).appendedAtMs
  }

  /** Topics with entries and no append under way. */
  quiet(): readonly Topic[] {
    return [...this.#lanes].filter(([, lane]) => lane.entries > 0 && lane.underWay === 0).map(([topic]) => topic)
  }

  /** The spool turned out to hold nothing of a quiet topic. */
  seenEmpty(topic: Topic): void {
    const lane = this.#lanes.get(topic)
    if (lane === undefined || lane.underWay > 0) return
    lane.entries = 0
    lane.bytes = 0
  }

  health(): SpoolHealth {
    const times = [...this.#lanes.values()].filter(({ entries }) => entries > 0).map(({ oldestAtMs }) => oldestAtMs)
    const oldestAgeMs = times.length === 0 ? null : Math.max(0, this.#nowMs() - Math.min(...times))
    return { entries: this.entries, bytes: this.bytes, maxBytes: this.#maxBytes, oldestAgeMs }
  }

  #add(topic: Topic, more: { readonly entries: number; readonly bytes: number; readonly atMs: number }): SpoolLane {
    const lane = this.#lanes.get(topic) ?? { entries: 0, bytes: 0, underWay: 0, oldestAtMs: more.atMs }
    if (lane.entries === 0) lane.oldestAtMs = more.atMs
    lane.entries += more.entries
    lane.bytes += more.bytes
    this.#lanes.set(topic, lane)
    return lane
  }

  #sum(of: (lane: SpoolLane) => number): number {
    let sum = 0
    for (const lane of this.#lanes.values()) sum += of(lane)
    return sum
  }
}
