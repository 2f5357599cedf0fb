/**
 * Lanes of a log stream. Records are in order within a lane.
 *
 * A lane is one partition of a topic during one generation of the topic. If the topic is recreated, or the log is restored from a
 * backup, offsets begin again: without a new lane, new records would be mistaken for records that were sent long ago.
 */

import { LIMITS } from '../limits.ts'

export interface LogLane {
  readonly topic: string
  readonly partition: number
  /** When the facts-writer first wrote to it, Unix ms. */
  readonly begunAtMs: number
  /** `renewed`: the log had lost records of the previous lane. */
  readonly cause: 'first' | 'renewed'
}

/** The parts of a log entry that decide its lane. */
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

/** The same for all lanes of one partition, which follow one another. */
export function partitionName({ topic, partition }: { readonly topic: string; readonly partition: number }): string {
  return `${topic}/${partition}`
}

/**
 * Whether an entry belongs to a later generation of its topic than the newest known entry. An entry that is repeated after a crash
 * also has a lower offset, but it was appended before the newest known entry; an entry of a new generation was appended after it.
 * `end`: the offset after the newest entry of the log; null if unknown.
 */
export function isOfNewLog(newest: LanePoint | null, entry: LanePoint, end: number | null): boolean {
  if (newest === null || entry.offset > newest.offset) return false
  if (end !== null && end <= newest.offset) return true
  return entry.appendedAtMs > newest.appendedAtMs + LIMITS.clockSkewMs
}
