/**
 * Creates Secrets. They are write-only: each change is a new Secret, whose name then goes into the reference, and none can be
 * read here again. In a cluster a Secret is deleted with the object that it was created for.
 */

import { refuse, refuseField, type Refusal } from '../../domain/errors.ts'
import { refuseSecret, secretsAllowed } from '../../domain/plan.ts'
import { answerCreated, type OrganizationCall, type CallTo } from '../http/call.ts'
import type { Inventory, InventoryLists } from '../resources/inventory.ts'
import type { ResourceWriter, SecretRoom } from '../resources/writer.ts'
import type { Randomness } from '../../runtime/random.ts'
import { randomName } from './random-name.ts'

interface SecretParts {
  readonly inventory: Inventory
  readonly writer: ResourceWriter
  readonly randomness: Randomness
}

/** `destination` or `logStream` names the object that owns the Secret. */
export function createSecret({ inventory, writer, randomness }: SecretParts) {
  return async (call: CallTo<'createSecret'>) => {
    const { organization } = call.scope
    const { namespace, tenant = null } = organization
    const owner = secretOwner(call.body, namespace)
    if (owner !== null && inventory.organizationOf(owner) !== organization.id) return refuse('not_found')
    const { values } = call.body
    const room = secretRoom(call, inventory)
    const secret = { namespace, name: randomName('Secret', randomness), values, tenant, owner, room }
    const outcome = await writer.createSecret(secret)
    if (outcome.kind === 'full') return refuseFull(call, { ...room, ...outcome })
    if (outcome.kind === 'written') return answerCreated({ name: secret.name, keys: Object.keys(values) })
    return outcome.kind === 'refused' ? refuseField('/values', outcome.message) : refuse('conflict')
  }
}

const REFERRING_KINDS = ['Destination', 'Webhook', 'LogStream'] as const

/** For the Secrets of the organisation, by how many objects may refer to some. */
export function secretRoom(call: OrganizationCall, inventory: InventoryLists): SecretRoom {
  const { id } = call.scope.organization
  const objects = REFERRING_KINDS.reduce((sum, kind) => sum + inventory.list(kind, id).length, 0)
  return { organization: id, allowed: secretsAllowed(objects) }
}

export function refuseFull(call: OrganizationCall, use: { readonly used: number; readonly allowed: number }): Refusal {
  return refuseSecret(call.scope.organization.plan, use)
}

function secretOwner({ destination, logStream }: CallTo<'createSecret'>['body'], namespace: string) {
  if (destination !== undefined) return { kind: 'Destination', namespace, name: destination }
  return logStream === undefined ? null : { kind: 'LogStream', namespace, name: logStream }
}
