/** Shows and erases everything that is stored about one person. */

import { sha256Hex } from '../../common/digest.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { MOST_LOG_RETENTION_DAYS } from '../../domain/limits.ts'
import { LETTER_LIFETIME_MS } from '../../domain/people/letters.ts'
import { mailDigest } from '../../domain/people/mail-choice.ts'
import type { Member } from '../../domain/people/member.ts'
import type { FactsReader } from '../../ports/facts/facts.ts'
import type { SessionVerbs } from '../../ports/hot-state/session-verbs.ts'
import { erasedKey } from '../mail/erased.ts'
import type { StoredObject, WriteManner } from '../resources/writer.ts'
import { changeKeepingOwner } from './keep-owner.ts'
import { everyMember, type Roster } from './out-of-force.ts'
import { memberAddress } from './stored-member.ts'

/** A letter may still be attempted at its deadline. */
const ERASED_MS = LETTER_LIFETIME_MS.support + DAY_MS

interface PersonParts {
  readonly roster: Roster
  readonly hotState: SessionVerbs
  readonly facts: FactsReader
  readonly nowMs: () => number
  readonly personId: (email: string) => string
  readonly onRemoved: (member: Member) => Promise<void>
}

/** Of one Member object. */
interface PersonMember {
  /** Empty if it is gone. */
  readonly organization: string
  readonly namespace: string
  readonly name: string
  readonly role: string
  readonly isInvited: boolean
}

export interface PersonExport {
  readonly email: string
  /** The person's pseudonym in activity. */
  readonly person: string
  readonly members: readonly PersonMember[]
  /** Of these organisations, by ID: those whose weekly mail the person ended. */
  readonly endedWeeklyMails: readonly string[]
  /** Their texts are not stored once they were mailed. */
  readonly supportRequests: readonly { readonly organization: string; readonly at: number; readonly message: string }[]
}

export interface PersonErased {
  readonly person: string
  readonly removed: readonly PersonMember[]
  /** Other managers own these and would restore them: remove them there. */
  readonly left: readonly (PersonMember & { readonly manager: string })[]
  /** The person is their only Owner: make somebody else Owner or remove the organisation, and erase the person again. */
  readonly onlyOwnerOf: readonly PersonMember[]
}

/** Rejects with `FactsUnavailable`. */
export async function exportPerson(email: string, parts: PersonParts): Promise<PersonExport> {
  const person = parts.personId(email)
  const members = membersOfPerson(email, parts.roster)
  return {
    email,
    person,
    members: members.map(membershipAnswer),
    endedWeeklyMails: await endedMailsOf(email, members, parts),
    supportRequests: await supportRequestsOf(person, parts),
  }
}

async function endedMailsOf(
  email: string,
  members: readonly Member[],
  { facts }: PersonParts,
): Promise<readonly string[]> {
  const ended: string[] = []
  for (const organization of new Set(members.map((member) => member.organization))) {
    const digests = [mailDigest(organization, email, sha256Hex)]
    const [choice] = await facts.run('mailChoices', { organization, digests })
    if (choice?.is_ended === true) ended.push(organization)
  }
  return ended
}

/** Also of organisations that the person has left. */
async function supportRequestsOf(
  person: string,
  { facts, nowMs }: PersonParts,
): Promise<PersonExport['supportRequests']> {
  const sinceMs = nowMs() - MOST_LOG_RETENTION_DAYS * DAY_MS
  const asked = { subject: person, type: 'support_requested', since_ms: sinceMs }
  const rows = await facts.run('activityAbout', asked)
  return rows.map(({ organization, noticed_at_ms: at, message }) => ({ organization, at, message }))
}

/**
 * Also ends sessions, and drops support requests that were not mailed yet. Does not reach backups and the payment provider. Rejects while
 * it is not certain that all members are known: what is not seen would stay.
 */
export async function erasePerson(email: string, parts: PersonParts): Promise<PersonErased> {
  if (parts.roster.directory.rightsAge() !== 'current')
    throw new Error('it is not known who is a member now: try again')
  const person = parts.personId(email)
  const removed: PersonMember[] = []
  const left: (PersonMember & { readonly manager: string })[] = []
  const onlyOwnerOf: PersonMember[] = []
  for (const member of membersOfPerson(email, parts.roster)) {
    const outcome = await removeMembership(member, parts)
    if (outcome.kind === 'removed') removed.push(membershipAnswer(member))
    else if (outcome.kind === 'only_owner') onlyOwnerOf.push(membershipAnswer(member))
    else left.push({ ...membershipAnswer(member), manager: outcome.manager })
  }
  await parts.hotState.replaceOnce(erasedKey(person), String(parts.nowMs()), ERASED_MS)
  await parts.hotState.dropSessionsOf(person)
  return { person, removed, left, onlyOwnerOf }
}

type Removal =
  | { readonly kind: 'removed' }
  | { readonly kind: 'only_owner' }
  | { readonly kind: 'managed_elsewhere'; readonly manager: string }

async function removeMembership(member: Member, parts: PersonParts): Promise<Removal> {
  const { roster, onRemoved } = parts
  const { writer } = roster
  const address = memberAddress(member)
  const found = await writer.read(address)
  if (found !== null && found.managedBy !== null) return { kind: 'managed_elsewhere', manager: found.managedBy }
  if (found !== null) {
    const write = (stored: StoredObject, manner: WriteManner) => writer.remove(address, stored.version, manner)
    const outcome = await changeKeepingOwner({ before: member, after: null, write }, roster)
    if ('code' in outcome && outcome.code === 'last_owner') return { kind: 'only_owner' }
    if ('code' in outcome || outcome.kind !== 'written') throw new Error(`${member.name} changed meanwhile: try again`)
  }
  await onRemoved(member)
  return { kind: 'removed' }
}

/** Those out of force, too: they would be in force again with the next larger plan. */
function membersOfPerson(email: string, roster: Roster): readonly Member[] {
  return everyMember(roster).filter(({ identity }) => identity.kind === 'person' && identity.email === email)
}

function membershipAnswer({ organization, namespace, name, role, invitation }: Member): PersonMember {
  return { organization, namespace, name, role, isInvited: invitation !== null }
}
