/**
 * The installs at the end of the log, which the facts do not have yet: followed only while a hot state that lost data cannot say
 * whether an event is new.
 */

import { BoundedMap } from '../../../common/bounded-map.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { readRecord } from '../../../domain/read-record.ts'
import { recordKey } from '../../../domain/records.ts'
import type { StoredEntry, TopicProgress, LogTail } from '../../../ports/event-log/event-log.ts'
import { answerInRecord, type KnownAnswer } from '../../../ports/hot-state/settled-record.ts'

/** If the facts are further behind, reading what they lack takes longer than a request can wait. */
const MOST_BEHIND = 15_000

export interface SoughtEvent extends OwnedWebsite {
  readonly eventId: string
}

/** One for each process. */
export class InstallTail {
  readonly #log: LogTail
  readonly #answers = new BoundedMap<string, KnownAnswer>(2 * MOST_BEHIND)
  /** By partition; what is before is in the facts, or was read. */
  #next: readonly number[] = []

  constructor(log: LogTail) {
    this.#log = log
  }

  /** The first answer to the event among what was read, by its key; nothing if there is none. */
  answersTo(event: SoughtEvent): readonly (readonly [string, KnownAnswer])[] {
    const key = recordKey(event, event.eventId)
    const answer = this.#answers.get(key)
    return answer === undefined ? [] : [[key, answer]]
  }

  /**
   * Reads what lies between the facts' position and the ends of the log, and was not read before. Not to be called while it runs.
   * Rejects if it is not certain that all of it was read.
   */
  async readTo({ done, ends }: TopicProgress): Promise<void> {
    const known = ends.map((end, partition) => ({ end, from: done[partition] ?? null }))
    let behind = 0
    for (const { end, from } of known) {
      if (end === null || (from === null && end > 0)) throw new Error('the end of the installs is not known')
      behind += end - (from ?? 0)
    }
    if (known.length === 0 || behind > MOST_BEHIND)
      throw new Error('the installs that the facts lack cannot be read in time')
    const from = known.map((of, partition) => Math.max(of.from ?? 0, this.#next[partition] ?? 0))
    if (known.every(({ end }, partition) => (from[partition] ?? 0) >= (end ?? 0))) return
    for await (const entries of this.#log.readLast('installs', { from })) this.#note(entries)
    this.#next = known.map(({ end }, partition) => Math.max(end ?? 0, from[partition] ?? 0))
  }

  /** Of several records of an event the first on the log counts. */
  #note(entries: readonly StoredEntry[]): void {
    for (const { value } of entries) {
      const reading = readRecord('install', value)
      if (reading.kind !== 'record') continue
      const answer = answerInRecord(reading.record)
      const key = recordKey(answer, answer.eventId)
      if (!this.#answers.has(key)) this.#answers.set(key, answer)
    }
  }
}
