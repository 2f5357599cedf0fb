/**
 * Members whose objects are there, but which a plan or a rule leaves out. They have no rights until there is room again, so
 * whoever may change members sees them, and nobody is erased while one is left.
 */

import { objectKey } from '../../domain/catalog/objects.ts'
import { memberAsWritten, type Member } from '../../domain/people/member.ts'
import { membersOf, type Directory } from '../resources/directory.ts'
import type { Inventory, ListedObject } from '../resources/inventory.ts'
import type { ResourceWriter } from '../resources/writer.ts'

export interface MemberOutOfForce extends Member {
  /** As in conditions; empty while nobody has said it. */
  readonly refusal: { readonly reason: string; readonly message: string }
}

/** Members: who is in force, whose objects there are beside them, and where both are written. */
export interface Roster {
  readonly directory: Directory
  readonly inventory: Inventory
  readonly writer: ResourceWriter
}

/** Of one organisation, the oldest first. */
export function membersOutOfForce({ directory, inventory }: Roster, organization: string): readonly MemberOutOfForce[] {
  return without(membersOf(directory, organization), inventory.list('Member', organization)).map((object) =>
    outOfForce(object, organization),
  )
}

/** In force or not, in every organisation, and in those that are gone, whose ID is empty. */
export function everyMember({ directory, inventory }: Roster): readonly Member[] {
  const inForce = directory.members()
  const others = without(inForce, inventory.all('Member'))
  return [...inForce, ...others.map((object) => outOfForce(object, inventory.organizationOf(object) ?? ''))]
}

function without(inForce: readonly Member[], objects: readonly ListedObject[]): readonly ListedObject[] {
  const keys = new Set(inForce.map(memberKey))
  return objects.filter((object) => !keys.has(memberKey(object)))
}

function memberKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return objectKey('Member', namespace, name)
}

/** A folder may contain anything. */
function outOfForce({ namespace, name, spec, conditions }: ListedObject, organization: string): MemberOutOfForce {
  const said = conditions.find(({ type, status }) => ['Accepted', 'ResolvedRefs'].includes(type) && status === 'False')
  const { reason = '', message = '' } = said ?? {}
  return { ...memberAsWritten({ namespace, name, spec }, organization), refusal: { reason, message } }
}
