/** What lists, makes and revokes API keys and share links alike. Each is an object of the configuration, so that kubectl and Git may hold it, too. */

import { shownName } from '../../domain/catalog/objects.ts'
import { refuse } from '../../domain/errors.ts'
import type { Pass, PassKind } from '../../domain/people/pass.ts'
import { textOf } from '../../domain/strict-json.ts'
import type { WriteParts } from '../configuration/write.ts'
import { DONE, type OrganizationCall } from '../http/call.ts'
import { refusedWrite } from '../people/members.ts'
import type { Directory } from '../resources/directory.ts'
import type { ListedObject } from '../resources/inventory.ts'

export interface PassAdminParts {
  readonly directory: Directory
  readonly writing: WriteParts
}

/** Of an object that may be refused, as far as it can be read, beside what its kind has. */
export function answeredPass(
  { namespace, name, createdAt, conditions, origin, spec }: ListedObject,
  isInForce: boolean,
) {
  const { displayName, expiresAt } = spec
  const expiresAtMs = Date.parse(textOf(expiresAt))
  return {
    namespace,
    name,
    displayName: typeof displayName === 'string' ? displayName : name,
    createdAt,
    expiresAt: Number.isNaN(expiresAtMs) ? 0 : expiresAtMs,
    isInForce,
    conditions,
    origin,
  }
}

/** The names, as people read them, of what opens something of the organisation now. */
export function namesInForce(passes: ReadonlyMap<string, Pass>, call: OrganizationCall): ReadonlySet<string> {
  const { id } = call.scope.organization
  const own = [...passes.values()].filter((pass) => pass.organization === id && pass.expiresAtMs > call.nowMs)
  return new Set(own.map(shownName))
}

/** Deletes the object. It names no version: whatever was changed of it meanwhile, it is to go. */
export function revokePass({ inventory, writer, trail }: WriteParts, kind: PassKind) {
  return async (call: OrganizationCall) => {
    const { namespace = '', name = '' } = call.params
    const ref = { kind, namespace, name }
    const isOwn = inventory.organizationOf(ref) === call.scope.organization.id
    const stored = isOwn ? await writer.read(ref) : null
    if (stored === null) return refuse('not_found')
    await trail.noteRemoval(call, `${kind}/${shownName(ref)}`)
    const outcome = await writer.remove(ref, stored.version, { mayTakeOver: true })
    return outcome.kind === 'written' ? DONE : refusedWrite(outcome)
  }
}
