/** Makes a person Owner by order of the service's administrator: the first one, or as a last resort. */

import { isOwner } from '../../domain/people/change-member.ts'
import type { Member, MemberIdentity } from '../../domain/people/member.ts'
import { membersOf, type Directory, type DirectoryOrganization } from '../resources/directory.ts'
import { installationOf, type Inventory } from '../resources/inventory.ts'
import type { ResourceWriter, WriteOutcome } from '../resources/writer.ts'
import { memberName } from './names.ts'
import { membersOutOfForce } from './out-of-force.ts'
import { memberSpec } from './spec.ts'
import { memberAddress, readStoredMember } from './stored-member.ts'

interface OwnerParts {
  readonly directory: Directory
  readonly inventory: Pick<Inventory, 'find' | 'list' | 'judge'>
  readonly writer: ResourceWriter
  readonly hash: (text: string) => string
}

/**
 * Null if the person is Owner now; otherwise the reason, as text. A member with another role, or with an open invitation, becomes Owner.
 * Takes effect whatever files of others are broken.
 */
export async function ownerWish(
  parts: OwnerParts,
  wish: { readonly email: string; readonly organization: string },
): Promise<string | null> {
  const { directory } = parts
  const organization = directory.organizations().get(wish.organization)
  if (organization === undefined) return 'there is no organisation of this ID'
  const isThem = ({ identity: its }: Member): boolean => its.kind === 'person' && its.email === wish.email
  const members = membersOf(directory, organization.id)
  const known = members.find(isThem)
  if (known !== undefined) return known.role === 'Owner' && known.invitation === null ? null : promote(known, parts)
  const out = membersOutOfForce(parts, organization.id).find(isThem)
  if (out === undefined) return addOwner(organization, wish.email, parts)
  // Where there is no Owner, the oldest one comes before everybody else.
  if (!members.some(isOwner) && out.role !== 'Owner') return promote(out, parts)
  return `the person is a member (${out.role}) that is out of force: ${out.refusal.message}`
}

async function promote(member: Member, { inventory, writer }: OwnerParts): Promise<string | null> {
  const address = memberAddress(member)
  const stored = await readStoredMember(member, writer, { isRepair: true })
  if (stored === null) return CHANGED
  const { invitation: _invitation, ...kept } = stored.spec
  const object = { ...address, spec: { ...kept, role: 'Owner' } }
  const [problem] = inventory.judge(object).refusals
  if (problem !== undefined) return problem.message
  return reasonOf(await writer.replace(object, stored.version, { isRepair: true }))
}

async function addOwner(
  organization: DirectoryOrganization,
  email: string,
  { inventory, writer, hash }: OwnerParts,
): Promise<string | null> {
  const { namespace, id } = organization
  const identity: MemberIdentity = { kind: 'person', email }
  const own = memberSpec({ organization, identity, role: 'Owner', invitation: null })
  const spec = { ...own, ...installationOf(organization, inventory) }
  const object = { kind: 'Member', namespace, name: memberName(id, identity, hash), spec }
  const [problem] = inventory.judge(object).refusals
  if (problem !== undefined) return problem.message
  return reasonOf(await writer.create(object, { isRepair: true }))
}

const CHANGED = 'the member was changed meanwhile: try again'

function reasonOf(outcome: WriteOutcome): string | null {
  switch (outcome.kind) {
    case 'written':
    case 'fits':
      return null
    case 'conflict':
      return CHANGED
    case 'managed_elsewhere':
      return `the member is managed by ${outcome.manager}: make the person Owner there`
    case 'refused':
      return outcome.message
  }
}
