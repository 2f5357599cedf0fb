/** The weekly mail to one member, written when it is sent: who has left, does not want it any more or ended it gets none. */

import type { WeeklyLetter } from '../../domain/people/letters.ts'
import type { SealedTexts } from '../../runtime/keyring.ts'
import type { LetterAbout, WrittenLetter } from '../mail/post.ts'
import { membersOf, type Directory } from '../resources/directory.ts'
import type { MailChoices } from './choices.ts'
import { endAddress } from './end-token.ts'
import { weeklyMail } from './mail-texts.ts'

interface WeeklyLetterParts {
  readonly directory: Directory
  readonly choices: MailChoices
  readonly baseUrl: string
  /** The service's name as people read it. */
  readonly brand: string
  readonly mailEnds: SealedTexts
}

export function writeWeekly({ directory, choices, baseUrl, brand, mailEnds }: WeeklyLetterParts) {
  return async (letter: WeeklyLetter, _about: LetterAbout): Promise<WrittenLetter> => {
    // Somebody who was removed a moment ago must get none, and somebody whom this copy lacks theirs.
    if (directory.rightsAge() !== 'current') return 'later'
    const { organization: id, namespace, name, summary } = letter
    const member = membersOf(directory, id).find((each) => each.namespace === namespace && each.name === name)
    const organization = directory.organizations().get(id)
    if (member === undefined || organization === undefined) return 'void'
    const { identity, invitation, wantsWeeklyMail } = member
    if (identity.kind !== 'person' || invitation !== null || !wantsWeeklyMail) return 'void'
    const { email } = identity
    if (await choices.isEnded(id, email)) return 'void'
    const endUrl = endAddress(baseUrl, mailEnds.seal, { organization: id, email })
    return weeklyMail(email, summary, { organization, baseUrl, brand, endUrl })
  }
}
