/** The mail about an alert, to a member who is still in force and may still be told when it is sent. */

import { alertWords, toldAlertOf } from '../../domain/alerts/alert-words.ts'
import type { Letter } from '../../domain/people/letters.ts'
import type { WrittenLetter } from '../mail/post.ts'
import { alertMail } from '../mail/texts.ts'
import { membersOf, type Directory } from '../resources/directory.ts'

interface AlertLetterParts {
  readonly directory: Directory
  readonly baseUrl: string
}

type ToldAlertLetter = Extract<Letter, { kind: 'alert' }>

/** Names of the members who are told of alerts: Owners and Admins who are persons. Who is a member by a group has no address here. */
export function toldOfAlerts(directory: Directory, organization: string): readonly string[] {
  return membersOf(directory, organization)
    .filter(({ role, identity, invitation }) => {
      return (role === 'Owner' || role === 'Admin') && identity.kind === 'person' && invitation === null
    })
    .map(({ name }) => name)
}

export function writeAlert({ directory, baseUrl }: AlertLetterParts) {
  return async ({ organization, member, alert }: ToldAlertLetter): Promise<WrittenLetter> => {
    const told = toldAlertOf(alert)
    const shown = directory.organizations().get(organization)
    if (told === null || shown === undefined || !toldOfAlerts(directory, organization).includes(member)) return 'void'
    const found = membersOf(directory, organization).find(({ name }) => name === member)
    if (found?.identity.kind !== 'person') return 'void'
    const link = `${baseUrl}/app/${encodeURIComponent(organization)}/alerts`
    return alertMail(found.identity.email, {
      organization: shown.displayName,
      words: alertWords(told),
      link,
      isOpen: told.state === 'opened',
    })
  }
}
