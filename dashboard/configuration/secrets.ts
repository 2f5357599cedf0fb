/**
 * Makes Secrets. They are write-only: each change is a new one, whose name then goes into the reference. Nobody can
 * read one here again. In a cluster one goes with the object that it was made for.
 */

import { refuse, refuseField } from '../../domain/errors.ts'
import { answer, optionalText, scopeOf, type Handler } from '../http/call.ts'
import type { Inventory } from '../resources/inventory.ts'
import type { ResourceWriter } from '../resources/writer.ts'
import type { Randomness } from '../../runtime/random.ts'
import { randomName } from './random-name.ts'

interface SecretParts {
  readonly inventory: Inventory
  readonly writer: ResourceWriter
  readonly randomness: Randomness
}

/** `destination` or `logStream` names the object that the Secret goes with, and then goes away with. */
export function createSecret({ inventory, writer, randomness }: SecretParts): Handler {
  return async (call) => {
    const { organization } = scopeOf(call)
    const { namespace, tenant = null } = organization
    const owner = secretOwner(optionalText(call, 'destination'), optionalText(call, 'logStream'), namespace)
    if (owner !== null && inventory.organizationOf(owner) !== organization.id) return refuse('not_found')
    const values = call.body['values'] as Readonly<Record<string, string>>
    const secret = { namespace, name: randomName('Secret', randomness), values, tenant, owner }
    const outcome = await writer.createSecret(secret)
    if (outcome.kind === 'written') return answer({ name: secret.name, keys: Object.keys(values) }, { status: 201 })
    return outcome.kind === 'refused' ? refuseField('/values', outcome.message) : refuse('conflict')
  }
}

function secretOwner(destination: string | null, logStream: string | null, namespace: string) {
  if (destination !== null) return { kind: 'Destination', namespace, name: destination }
  return logStream === null ? null : { kind: 'LogStream', namespace, name: logStream }
}
