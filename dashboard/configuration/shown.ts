/** Objects as answers show them. Secrets are not resources, so none of their values can be among them. */

import { memberOf } from '../../domain/strict-json.ts'
import { kindOf } from '../../domain/resources/resources.ts'
import { mayDo } from '../../domain/people/roles.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { ListedObject } from '../resources/inventory.ts'
import type { StoredObject, WrittenObject } from '../resources/writer.ts'

/** As in a list, which is a moment behind. */
export function shownInList(object: ListedObject, role: MemberRole) {
  const { kind, namespace, name, version, createdAt, conditions, origin } = object
  return { kind, namespace, name, version, createdAt, origin, conditions, spec: shownSpec(object, role) }
}

/** As it is stored, with what is known of its state; `isJudged` if that is about what is stored, and not about the version before. */
export function shownAlone(stored: StoredObject, listed: ListedObject | null, role: MemberRole) {
  const { namespace, name, version, readOnly } = stored
  const kind = kindOf(stored.kind)
  const { createdAt = '', conditions = [], origin = null } = listed ?? {}
  const about = { kind, namespace, name, version, createdAt, origin, readOnly }
  const isJudged = listed?.version === version && listed.judgedVersion === version
  return { ...about, conditions, isJudged, spec: shownSpec(stored, role) }
}

/** Without the ID of an invitation: its link contains it, so only the mail may. The digest of a key or a token is of use only to whoever may change it. */
export function shownSpec({ kind, spec }: WrittenObject, role: MemberRole): WrittenObject['spec'] {
  if ((kind === 'ApiKey' && !mayDo(role, 'manageKeys')) || (kind === 'ShareLink' && !mayDo(role, 'manageLinks'))) {
    const { keyHash: _keyHash, tokenHash: _tokenHash, ...rest } = spec
    return rest
  }
  if (kind !== 'Member') return spec
  const { email, invitation, ...rest } = spec
  const until = memberOf(invitation, 'expiresAt')
  return {
    ...rest,
    ...(email !== undefined && mayDo(role, 'readAddresses') ? { email } : {}),
    ...(until === undefined ? {} : { invitation: { expiresAt: until } }),
  }
}
