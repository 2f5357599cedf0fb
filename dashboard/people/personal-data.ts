/** What is kept of one person: shown as a whole, and erased. */

import type { Member } from '../../domain/people/member.ts'
import type { SessionVerbs } from '../../ports/hot-state/session-verbs.ts'
import type { Directory } from '../resources/directory.ts'
import type { ResourceWriter } from '../resources/writer.ts'
import { memberAddress } from './members.ts'

interface PersonParts {
  readonly directory: Directory
  readonly writer: ResourceWriter
  readonly hotState: Pick<SessionVerbs, 'dropSessionsOf'>
  readonly personId: (email: string) => string
  readonly onRemoved: (member: Member) => Promise<void>
}

/** Of one Member object. */
interface PersonMember {
  readonly organization: string
  readonly namespace: string
  readonly name: string
  readonly role: string
  readonly isInvited: boolean
}

export interface PersonExport {
  readonly email: string
  /** What activity calls the person. */
  readonly person: string
  readonly members: readonly PersonMember[]
}

export interface PersonErased {
  readonly person: string
  readonly removed: readonly PersonMember[]
  /** Others write these, which would bring them back: they are to be removed there. */
  readonly left: readonly (PersonMember & { readonly manager: string })[]
}

export function exportPerson(email: string, { directory, personId }: PersonParts): PersonExport {
  return { email, person: personId(email), members: membersOfPerson(email, directory).map(shown) }
}

/** Sessions end too. What is on the way in a mail, in backups and at the payment provider is not reached. */
export async function erasePerson(email: string, parts: PersonParts): Promise<PersonErased> {
  const person = parts.personId(email)
  const removed: PersonMember[] = []
  const left: (PersonMember & { readonly manager: string })[] = []
  for (const member of membersOfPerson(email, parts.directory)) {
    const manager = await remove(member, parts)
    if (manager === null) removed.push(shown(member))
    else left.push({ ...shown(member), manager })
  }
  await parts.hotState.dropSessionsOf(person)
  return { person, removed, left }
}

/** Null if it is gone; otherwise whoever manages it. */
async function remove(member: Member, { writer, onRemoved }: PersonParts): Promise<string | null> {
  const stored = await writer.read(memberAddress(member))
  const outcome = stored === null ? null : await writer.remove(memberAddress(member), stored.version)
  if (outcome?.kind === 'managed_elsewhere') return outcome.manager
  if (outcome !== null && outcome.kind !== 'written') throw new Error(`${member.name} changed meanwhile: try again`)
  await onRemoved(member)
  return null
}

function membersOfPerson(email: string, directory: Directory): readonly Member[] {
  return directory.members().filter(({ identity }) => identity.kind === 'person' && identity.email === email)
}

function shown({ organization, namespace, name, role, invitation }: Member): PersonMember {
  return { organization, namespace, name, role, isInvited: invitation !== null }
}
