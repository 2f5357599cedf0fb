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
  /**
   * How its records are stored: as pointers to the rows of Logs, or as texts by the version before. A version that knows texts only
   * reads no name of a lane of pointers, and so leaves what is done of it as it is.
   */
  readonly form: 'pointers' | 'texts'
}

/** The parts of a log entry that decide its lane. */
export interface LanePoint {
  readonly offset: number
  readonly appendedAtMs: number
}

const POINTERS = 'p'

export function laneName({ topic, partition, begunAtMs, cause, form }: LogLane): string {
  return `${topic}/${partition}/${form === 'pointers' ? POINTERS : ''}${begunAtMs}/${cause}`
}

/** Null for a text that names no lane. */
export function readLane(name: string): LogLane | null {
  const [topic = '', partition = '', begun = '', cause = ''] = name.split('/')
  const form = begun.startsWith(POINTERS) ? 'pointers' : 'texts'
  const begunAtMs = form === 'pointers' ? begun.slice(POINTERS.length) : begun
  if (!/^\d+$/.test(partition) || !/^\d+$/.test(begunAtMs)) return null
  if (topic === '' || (cause !== 'first' && cause !== 'renewed')) return null
  return { topic, partition: Number(partition), begunAtMs: Number(begunAtMs), cause, form }
}

/** Whether the texts of a lane's records are only in Logs. */
export function isOfPointers(lane: string): boolean {
  return readLane(lane)?.form === 'pointers'
}

/** The same for lanes that follow one another: those of one partition in one form. */
export function successionOf(lane: LogLane): string {
  return `${partitionName(lane)} ${lane.form}`
}

/** The same for all lanes of one partition. */
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
