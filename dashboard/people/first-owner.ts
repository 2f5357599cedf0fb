/** Makes a person Owner by order of the service's administrator: the first one, or as a last resort. */

import type { Member, MemberIdentity } from '../../domain/people/member.ts'
import { membersOf, type Directory } from '../resources/directory.ts'
import { installationOf, type Inventory } from '../resources/inventory.ts'
import type { ResourceWriter } from '../resources/writer.ts'
import { memberName } from './names.ts'
import { membersOutOfForce } from './out-of-force.ts'
import { memberSpec } from './spec.ts'

interface OwnerParts {
  readonly directory: Directory
  readonly inventory: Pick<Inventory, 'find' | 'list'>
  readonly writer: ResourceWriter
  readonly hash: (text: string) => string
}

/** Null if the person is Owner now; otherwise the reason, as text. */
export async function ownerWish(
  parts: OwnerParts,
  wish: { readonly email: string; readonly organization: string },
): Promise<string | null> {
  const { directory, inventory, writer, hash } = parts
  const organization = directory.organizations().get(wish.organization)
  if (organization === undefined) return 'there is no organisation of this ID'
  const identity: MemberIdentity = { kind: 'person', email: wish.email }
  const isThem = ({ identity: its }: Member): boolean => its.kind === 'person' && its.email === wish.email
  const known = membersOf(directory, organization.id).find(isThem)
  if (known?.role === 'Owner' && known.invitation === null) return null
  if (known !== undefined) return 'the person is a member with another role or an open invitation: change that one'
  const out = membersOutOfForce(parts, organization.id).find(isThem)
  if (out !== undefined) return `the person is a member (${out.role}) that is out of force: ${out.refusal.message}`
  const { namespace, id } = organization
  const own = memberSpec({ organization, identity, role: 'Owner', invitation: null })
  const spec = { ...own, ...installationOf(organization, inventory) }
  const outcome = await writer.create({ kind: 'Member', namespace, name: memberName(id, identity, hash), spec })
  if (outcome.kind === 'written') return null
  return outcome.kind === 'refused' ? outcome.message : 'there is a member of this address already'
}
