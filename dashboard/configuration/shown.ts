/** Objects as answers show them. Secrets are no resources, so no value of one can be among them. */

import { mayDo } from '../../domain/people/roles.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { ListedObject } from '../resources/inventory.ts'
import type { StoredObject, WrittenObject } from '../resources/writer.ts'

/** In a list, which is a moment behind. */
export function shownInList(object: ListedObject, role: MemberRole): object {
  const { kind, namespace, name, version, createdAt, conditions, origin } = object
  return { kind, namespace, name, version, createdAt, origin, conditions, spec: shownSpec(object, role) }
}

/** As it is stored, with what is known of its state. */
export function shownAlone(stored: StoredObject, listed: ListedObject | null, role: MemberRole): object {
  const { kind, namespace, name, version, readOnly } = stored
  const { createdAt = '', conditions = [], origin = null } = listed ?? {}
  return { kind, namespace, name, version, createdAt, origin, conditions, readOnly, spec: shownSpec(stored, role) }
}

/** The ID of an invitation is what its link names, and is for the mail alone. */
function shownSpec({ kind, spec }: WrittenObject, role: MemberRole): WrittenObject['spec'] {
  if (kind !== 'Member') return spec
  const { email, invitation, ...rest } = spec
  const until = (invitation as { readonly expiresAt?: string } | undefined)?.expiresAt
  return {
    ...rest,
    ...(email !== undefined && mayDo(role, 'readAddresses') ? { email } : {}),
    ...(until === undefined ? {} : { invitation: { expiresAt: until } }),
  }
}
