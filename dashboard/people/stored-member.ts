/** Reads the object of a member, if that is still what the directory shows. */

import { type Member, invitationIn } from '../../domain/people/member.ts'
import type { ResourceAddress, StoredObject, ResourceReader } from '../resources/writer.ts'

export function memberAddress({
  namespace,
  name,
}: {
  readonly namespace: string
  readonly name: string
}): ResourceAddress {
  return { kind: 'Member', namespace, name }
}

/** The stored object, with the version to write over; null if it is gone, or has another role or invitation. */
export async function readStoredMember(
  member: Member,
  writer: ResourceReader,
  manner: { readonly isRepair?: boolean } = {},
): Promise<StoredObject | null> {
  const stored = await writer.read(memberAddress(member), manner)
  return stored !== null && isAsStored(stored, member) ? stored : null
}

/** The directory may be a moment behind what is stored. */
function isAsStored({ spec }: StoredObject, { role, invitation }: Member): boolean {
  return spec['role'] === role && invitationIn(spec) === invitation?.id
}
