/** The mail of a support request. */

import type { SupportLetter } from '../../domain/people/letters.ts'
import type { OnceVerbs } from '../../ports/hot-state/session-verbs.ts'
import { erasedKey } from '../mail/erased.ts'
import type { LetterAbout, WrittenLetter } from '../mail/post.ts'

interface LetterParts {
  /** Null: this service offers no support. */
  readonly supportMail: string | null
  readonly hotState: OnceVerbs
}

/** Void once the person was erased: their address is sent nowhere. */
export function writeSupport({
  supportMail,
  hotState,
}: LetterParts): (letter: SupportLetter, about: LetterAbout) => Promise<WrittenLetter> {
  return async (letter, { mailId, createdAtMs }) => {
    if (supportMail === null) return 'void'
    const erasedAtMs = await hotState.readOnce(erasedKey(letter.person))
    if (erasedAtMs !== null && Number(erasedAtMs) >= createdAtMs) return 'void'
    const { organization, person, message, diagnostics, email } = letter
    const lines = [`Organisation: ${organization}`, `Person: ${person}`, `Request: ${mailId}`, '', message]
    const text = [...lines, ...(diagnostics === '' ? [] : ['', 'Diagnostics:', diagnostics]), ''].join('\n')
    return { to: supportMail, replyTo: email, subject: `Support request of ${organization}`, text }
  }
}
