/** Sends one letter: writes it from the present state, and hands it to the mail server. */

import { within } from '../../common/deadline.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { Letter, LetterOutcome } from '../../domain/people/letters.ts'
import type { Logger } from '../../runtime/logger.ts'
import { MailRefused, type Mail, type Mailer } from './mailer.ts'
import { sendOnce, type MailMemory } from './once.ts'

/** What a writer makes of a letter; `later`: what it is about is not there yet. Rejects if it could not be looked up. */
export type WrittenLetter = Mail | 'void' | 'later'

export interface LetterAbout {
  /** The same at every try. */
  readonly mailId: string
  /** Those before. */
  readonly tries: number
  readonly createdAtMs: number
}

/** Writes letters of each kind. */
type LetterWriters = {
  readonly [K in Letter['kind']]: (letter: Extract<Letter, { kind: K }>, about: LetterAbout) => Promise<WrittenLetter>
}

interface PostParts {
  readonly mailer: Mailer
  readonly writers: LetterWriters
  readonly hotState: MailMemory
  readonly logger: Logger
}

export type Post = (letter: Letter, about: LetterAbout) => Promise<LetterOutcome>

/** People who get no answer ask for support again, a week may be summed up again after a crash, and alerts may be read twice. Other letters have an ID each. */
const MAY_COME_AGAIN: ReadonlySet<Letter['kind']> = new Set(['support', 'weekly', 'alert'])

/** Never rejects. */
export function createPost({ mailer, writers, hotState, logger }: PostParts): Post {
  return async (letter, about) => {
    const { mailId, tries } = about
    try {
      const written = await writeLetter(writers, letter, about)
      if (typeof written === 'string') return written
      const send = (): Promise<void> => within(mailer.send({ ...written, id: mailId }), LIMITS.webhookMs)
      if (MAY_COME_AGAIN.has(letter.kind)) return await sendOnce(mailId, hotState, send)
      await send()
      return 'sent'
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown'
      logger.warn({ mail: mailId, kind: letter.kind, tries, why }, 'mail not sent')
      return error instanceof MailRefused ? 'refused' : 'later'
    }
  }
}

function writeLetter(writers: LetterWriters, letter: Letter, about: LetterAbout): Promise<WrittenLetter> {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- each kind has the writer of its letters
  const writer = writers[letter.kind] as (each: Letter, about: LetterAbout) => Promise<WrittenLetter>
  return writer(letter, about)
}
