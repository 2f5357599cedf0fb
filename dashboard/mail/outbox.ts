/** Accepts letters durably: they are on the event log before the request is answered. Another part sends them. */

import { LETTER_LIFETIME_MS, type Letter } from '../../domain/people/letters.ts'
import { encodeRecord, type MailJob } from '../../domain/records.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { Randomness } from '../../runtime/random.ts'

export interface Outbox {
  /**
   * Resolves once it cannot be lost any more. Rejects with `LogUnavailable`; it may then be sent or not. Letters with one ID, 32 hex
   * digits, are one mail; without an ID each is a mail of its own.
   */
  readonly put: (letter: Letter, id?: string) => Promise<void>
}

interface OutboxParts {
  readonly eventLog: LogWriter
  readonly randomness: Randomness
  readonly nowMs: () => number
}

const ID_BYTES = 16

export function createOutbox({ eventLog, randomness, nowMs }: OutboxParts): Outbox {
  return {
    async put(letter, id) {
      const createdAtMs = nowMs()
      const job: MailJob = {
        v: 1,
        mailId: id ?? randomness.hex(ID_BYTES),
        letter,
        createdAtMs,
        deadlineAtMs: createdAtMs + LETTER_LIFETIME_MS[letter.kind],
        tries: 0,
        dueAtMs: createdAtMs,
      }
      await eventLog.append('mail', [{ key: job.mailId, value: encodeRecord(job) }])
    },
  }
}
