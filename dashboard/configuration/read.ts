/** Reads objects of an organisation. What belongs to others, or to no organisation, is answered as missing. */

import { refuse } from '../../domain/errors.ts'
import { RESOURCE_KINDS, type ResourceKind } from '../../domain/resources/resources.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { Inventory } from '../resources/inventory.ts'
import type { ResourceAddress, ResourceWriter } from '../resources/writer.ts'
import { shownAlone, shownInList } from './shown.ts'

export interface ObjectReadParts {
  readonly inventory: Inventory
  readonly writer: ResourceWriter
}

export function listResources({ inventory }: ObjectReadParts) {
  return async (call: CallTo<'resources'>) => {
    const kind = requestedKind(call)
    if (kind === null) return refuse('not_found')
    const { organization, role } = call.scope
    return answer({ resources: inventory.list(kind, organization.id).map((object) => shownInList(object, role)) })
  }
}

export function readResource({ inventory, writer }: ObjectReadParts) {
  return async (call: CallTo<'resource'>) => {
    const ref = ownRefOf(call, inventory)
    const stored = ref === null ? null : await writer.read(ref)
    if (ref === null || stored === null) return refuse('not_found')
    return answer(shownAlone(stored, inventory.find(ref), call.scope.role), { etag: stored.version })
  }
}

export function requestedKind({ params }: { readonly params: { readonly kind: string } }): ResourceKind | null {
  return RESOURCE_KINDS.find((kind) => kind === params.kind) ?? null
}

export type CallOfObject = CallTo<'resource'> | CallTo<'changeResource'> | CallTo<'removeResource'>

/** The object that the path names; null if it does not belong to the organisation of the path. */
export function ownRefOf(
  call: CallOfObject,
  inventory: Inventory,
): (ResourceAddress & { readonly kind: ResourceKind }) | null {
  const kind = requestedKind(call)
  const { namespace, name } = call.params
  const { organization } = call.scope
  if (kind === null) return null
  const ref = { kind, namespace, name }
  return inventory.organizationOf(ref) === organization.id ? ref : null
}
