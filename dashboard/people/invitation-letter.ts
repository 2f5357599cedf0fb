/** The mail of an invitation, written from the Member object as it is when the mail is sent. */

import { setTimeout } from 'node:timers/promises'

import { invitationIn } from '../../domain/people/member.ts'
import { isMemberSpec } from '../../domain/resources/member-schema.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import type { Letter } from '../../domain/people/letters.ts'
import type { LetterAbout, WrittenLetter } from '../mail/post.ts'
import { invitationMail } from '../mail/texts.ts'
import type { Directory } from '../resources/directory.ts'
import type { StoredObject, ResourceReader } from '../resources/writer.ts'

interface InvitationLetterParts {
  readonly directory: Directory
  readonly writer: ResourceReader
  readonly baseUrl: string
  /** The service's name as people read it. */
  readonly brand: string
  readonly nowMs: () => number
}

type InvitationLetter = Extract<Letter, { kind: 'invitation' }>

/** The letter is on the log a moment before its object is written. */
const WAITS_MS = [100, 300, 600]
/** No write of the dashboard takes longer. */
const WRITTEN_WITHIN_MS = MINUTE_MS

export function linkOf(invitation: string, baseUrl: string): string {
  return `${baseUrl}/sign-in#invitation=${invitation}`
}

export function writeInvitation(
  parts: InvitationLetterParts,
): (letter: InvitationLetter, about: LetterAbout) => Promise<WrittenLetter> {
  return async (letter, { tries, createdAtMs }) => {
    const stored = await readInvited(parts, letter, tries)
    if (stored === null) return parts.nowMs() - createdAtMs < WRITTEN_WITHIN_MS ? 'later' : 'void'
    if (!isMemberSpec(stored.spec)) return 'void'
    const { email, role, invitation } = stored.spec
    const organization = parts.directory.organizations().get(letter.organization)?.displayName
    if (email === undefined || invitation === undefined || Date.parse(invitation.expiresAt) <= parts.nowMs())
      return 'void'
    if (organization === undefined) return 'later'
    const { baseUrl, brand } = parts
    return invitationMail(email, { link: linkOf(letter.invitation, baseUrl), organization, role, brand })
  }
}

/** The object while it has this invitation; null if it has another or none. */
async function readInvited(
  { writer }: InvitationLetterParts,
  { namespace, name, invitation }: InvitationLetter,
  tries: number,
): Promise<StoredObject | null> {
  for (const waitMs of tries === 0 ? [0, ...WAITS_MS] : [0]) {
    if (waitMs > 0) await setTimeout(waitMs)
    const stored = await writer.read({ kind: 'Member', namespace, name })
    if (stored !== null && invitationIn(stored.spec) === invitation) return stored
  }
  return null
}
