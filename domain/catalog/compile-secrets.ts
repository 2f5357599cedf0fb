/** Finds the Secret that an object refers to, and refuses reserved ones. */

import type { ObjectId, SecretObject } from './objects.ts'
import { objectKey } from './objects.ts'
import type { Compiler } from './compiler.ts'
import { LIMITS } from '../limits.ts'

/**
 * The Secret in the object's own namespace, or null after the problem has been reported. `pointer` is that of the
 * reference.
 */
export function secretOf(
  compiler: Pick<Compiler, 'objects' | 'report' | 'ownSecrets' | 'tenants'>,
  from: ObjectId,
  name: string,
  pointer: string,
): SecretObject | null {
  const { namespace } = from
  const key = objectKey('Secret', namespace, name)
  const field = `${pointer}/name`
  if (compiler.ownSecrets.has(key)) {
    compiler.report(from, 'SecretReserved', field, `Secret ${name} belongs to the service itself`)
    return null
  }
  const tenant = compiler.tenants.get(from.key) ?? ''
  const found = compiler.objects.secrets.get(key)
  const secret = found?.tenant === tenant ? found : undefined
  if (secret === undefined) {
    // What belongs to another tenant does not exist for this one.
    const isSeen = tenant === '' && found === undefined && compiler.objects.seen.has(key)
    const message = isSeen ? `Secret ${name} is itself refused` : `there is no Secret ${name} in namespace ${namespace}`
    compiler.report(from, isSeen ? 'RefNotAccepted' : 'RefNotFound', field, message)
    return null
  }
  if (secret.reserved === null) return secret
  compiler.report(from, 'SecretReserved', field, `Secret ${name} ${secret.reserved}`)
  return null
}

/** An empty value counts as missing: no provider accepts it. */
export function hasValue({ values }: SecretObject, key: string): boolean {
  return (values.get(key) ?? '') !== ''
}

/** The first of these keys whose value is longer than a credential may be; null if there is none. */
export function tooLargeKey({ values }: SecretObject, keys: readonly string[]): string | null {
  return keys.find((key) => byteLength(values.get(key) ?? '') > LIMITS.credentialBytes) ?? null
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
