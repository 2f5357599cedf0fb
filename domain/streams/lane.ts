/**
 * Lanes of a log stream: the order of records is promised within one.
 *
 * A lane is one partition of a topic in one of its lives. If the topic is made anew, or the log comes back from a backup,
 * offsets begin again: that is a new lane, or what follows would be taken for what was sent long ago.
 */

import { LIMITS } from '../limits.ts'

export interface LogLane {
  readonly topic: string
  readonly partition: number
  /** When the facts-writer first wrote to it, Unix ms. */
  readonly begunAtMs: number
  /** `renewed`: the log had lost what the lane before it held. */
  readonly cause: 'first' | 'renewed'
}

/** An entry of the log as far as lanes are told by it. */
export interface LanePoint {
  readonly offset: number
  readonly appendedAtMs: number
}

export function laneName({ topic, partition, begunAtMs, cause }: LogLane): string {
  return `${topic}/${partition}/${begunAtMs}/${cause}`
}

/** Null for a text that names no lane. */
export function readLane(name: string): LogLane | null {
  const [topic = '', partition = '', begunAtMs = '', cause = ''] = name.split('/')
  if (!/^\d+$/.test(partition) || !/^\d+$/.test(begunAtMs)) return null
  if (topic === '' || (cause !== 'first' && cause !== 'renewed')) return null
  return { topic, partition: Number(partition), begunAtMs: Number(begunAtMs), cause }
}

/** Lanes of one partition have this in common. */
export function partitionName({ topic, partition }: Pick<LogLane, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`
}

/**
 * Whether an entry belongs to another life of its topic than the newest one known of it. What comes again after a crash
 * lies below that too, but it was appended before it, whereas an entry of a new life was appended later. `end`: the offset
 * after the newest entry of the log; null if it is not known.
 */
export function isOfNewLog(newest: LanePoint | null, entry: LanePoint, end: number | null): boolean {
  if (newest === null || entry.offset > newest.offset) return false
  if (end !== null && end <= newest.offset) return true
  return entry.appendedAtMs > newest.appendedAtMs + LIMITS.clockSkewMs
}
