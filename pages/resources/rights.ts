/** What a role may change of an object, by the API's own rule, so that nothing is offered that would be refused. */

import type { MemberRole } from '../../domain/model.ts'
import { refuseResourceChange } from '../../domain/people/change-resource.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { ResourceSpec } from '../data/resources.ts'

interface AskedRight {
  readonly kind: ResourceKind
  /** Null for a new object. */
  readonly spec: ResourceSpec | null
}

export function mayMake(role: MemberRole, kind: ResourceKind): boolean {
  return isAllowed(role, { kind, before: null, after: {} })
}

export function mayRemove(role: MemberRole, { kind, spec }: AskedRight): boolean {
  return isAllowed(role, { kind, before: spec, after: null })
}

/** No field has this value, so that it is a change of every field. */
const ANOTHER = '…'

export function mayChange(role: MemberRole, { kind, spec }: AskedRight, field: string): boolean {
  return isAllowed(role, { kind, before: spec, after: { ...spec, [field]: ANOTHER } })
}

/** Other refusals depend on the value, and are said at its field. */
function isAllowed(role: MemberRole, change: Parameters<typeof refuseResourceChange>[1]): boolean {
  return refuseResourceChange(role, change)?.code !== 'forbidden'
}
