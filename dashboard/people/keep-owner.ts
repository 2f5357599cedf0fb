/** Takes an Owner away only while another one stays, also if several leave or demote each other at once. */

import { refuse, type Refusal } from '../../domain/errors.ts'
import type { MemberRole } from '../../domain/model.ts'
import { isOwner } from '../../domain/people/change-member.ts'
import type { Member } from '../../domain/people/member.ts'
import { membersOf } from '../resources/directory.ts'
import type { StoredObject, WriteManner, WriteOutcome } from '../resources/writer.ts'
import type { Roster } from './out-of-force.ts'
import { readStoredMember } from './stored-member.ts'

/** What a change of a member rests on, and its outcome; `write` reads the member itself first. */
interface OwnerChange {
  readonly before: Member
  /** Null: the member is removed. */
  readonly after: MemberRole | null
  readonly write: (stored: StoredObject, manner: WriteManner) => Promise<WriteOutcome>
}

/** Whoever wins changes the other's object; after so many losses the caller may ask again. */
const TRIES = 4

/**
 * Writes the change, or refuses it as `last_owner`, or as `conflict` if the member is no longer as it was judged. The other Owner on whom
 * it rests is looked for anew after each conflict.
 */
export async function changeKeepingOwner(
  { before, after, write }: OwnerChange,
  roster: Roster,
): Promise<WriteOutcome | Refusal> {
  const isTaken = isOwner(before) && after !== 'Owner' && roster.directory.organizations().has(before.organization)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const stored = await readStoredMember(before, roster.writer)
    if (stored === null) return refuse('conflict')
    const reliesOn = isTaken ? await otherOwner(before, roster) : null
    if (isTaken && reliesOn === null) return refuse('last_owner')
    const outcome = await write(stored, reliesOn === null ? {} : { reliesOn })
    if (outcome.kind !== 'conflict') return outcome
  }
  return refuse('conflict')
}

/** As it is stored now: the directory may be a moment behind. */
async function otherOwner({ name, organization }: Member, { directory, writer }: Roster): Promise<StoredObject | null> {
  const others = membersOf(directory, organization).filter((other) => other.name !== name && isOwner(other))
  for (const other of others) {
    const stored = await readStoredMember(other, writer)
    if (stored !== null) return stored
  }
  return null
}
