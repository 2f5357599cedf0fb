/** Makes a person Owner by order of the service's administrator: the first one, or as a last resort. */

import { isOwner } from '../../domain/people/change-member.ts'
import type { Member, MemberIdentity } from '../../domain/people/member.ts'
import { membersOf, type DirectoryOrganization } from '../resources/directory.ts'
import { installationOf } from '../resources/inventory.ts'
import type { WriteOutcome } from '../resources/writer.ts'
import { memberName } from './names.ts'
import { membersOutOfForce, type Roster } from './out-of-force.ts'
import { memberSpec } from './spec.ts'
import { memberAddress, readStoredMember } from './stored-member.ts'

interface OwnerWish {
  readonly email: string
  readonly organization: string
  /** Keyed hash of an address, for the name of the member. */
  readonly hash: (text: string) => string
}

/**
 * Null if the person is Owner now; otherwise the reason, as text. A member with another role, or with an open invitation, becomes Owner.
 * Takes effect whatever files of others are broken.
 */
export async function ownerWish(roster: Roster, wish: OwnerWish): Promise<string | null> {
  const { directory } = roster
  const organization = directory.organizations().get(wish.organization)
  if (organization === undefined) return 'there is no organisation of this ID'
  const isThem = ({ identity: its }: Member): boolean => its.kind === 'person' && its.email === wish.email
  const members = membersOf(directory, organization.id)
  const known = members.find(isThem)
  if (known !== undefined) return known.role === 'Owner' && known.invitation === null ? null : promote(known, roster)
  const out = membersOutOfForce(roster, organization.id).find(isThem)
  if (out === undefined) return addOwner(organization, wish, roster)
  // Where there is no Owner, the oldest one comes before everybody else.
  if (!members.some(isOwner) && out.role !== 'Owner') return promote(out, roster)
  return `the person is a member (${out.role}) that is out of force: ${out.refusal.message}`
}

async function promote(member: Member, { inventory, writer }: Roster): Promise<string | null> {
  const address = memberAddress(member)
  const stored = await readStoredMember(member, writer, { isRepair: true })
  if (stored === null) return CHANGED
  const { invitation: _invitation, ...kept } = stored.spec
  const object = { ...address, spec: { ...kept, role: 'Owner' } }
  const [problem] = inventory.judge(object).refusals
  if (problem !== undefined) return problem.message
  return refusalReason(await writer.replace(object, stored.version, { isRepair: true }))
}

async function addOwner(
  organization: DirectoryOrganization,
  { email, hash }: OwnerWish,
  { inventory, writer }: Roster,
): Promise<string | null> {
  const { namespace, id } = organization
  const identity: MemberIdentity = { kind: 'person', email }
  const own = memberSpec({ organization, identity, role: 'Owner', invitation: null })
  const spec = { ...own, ...installationOf(organization, inventory) }
  const object = { kind: 'Member', namespace, name: memberName(id, identity, hash), spec }
  const [problem] = inventory.judge(object).refusals
  if (problem !== undefined) return problem.message
  return refusalReason(await writer.create(object, { isRepair: true }))
}

const CHANGED = 'the member was changed meanwhile: try again'

function refusalReason(outcome: WriteOutcome): string | null {
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
