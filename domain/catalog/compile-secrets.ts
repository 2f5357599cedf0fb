/** Finds the Secret that an object refers to, and refuses reserved ones. */

import type { CheckedObjects, ObjectId, SecretObject } from './objects.ts'
import { objectKey } from './objects.ts'
import type { Compiler } from './compiler.ts'
import type { KeyRef, PreviousSecretSpec } from '../resources/resource-fields.ts'
import type { ProblemReason } from '../resources/problems.ts'
import { LIMITS } from '../limits.ts'

/**
 * The Secret in the object's own namespace, or null after the problem has been reported. `pointer` points to the
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
    const { reason, message } = whyMissing(compiler.objects, { key, namespace, name, tenant })
    compiler.report(from, reason, field, message)
    return null
  }
  if (secret.reserved === null) return secret
  compiler.report(from, 'SecretReserved', field, `Secret ${name} ${secret.reserved}`)
  return null
}

/** To one tenant, objects of another do not exist. */
function whyMissing(
  { secrets, seen, tooLarge }: CheckedObjects,
  wanted: { readonly key: string; readonly namespace: string; readonly name: string; readonly tenant: string },
): { readonly reason: ProblemReason; readonly message: string } {
  const { key, namespace, name, tenant } = wanted
  const large = tooLarge.get(key)
  if (large?.tenant === tenant) return { reason: 'TooLarge', message: `Secret ${name}: ${large.why}` }
  const isRefused = tenant === '' && !secrets.has(key) && large === undefined && seen.has(key)
  if (isRefused) return { reason: 'RefNotAccepted', message: `Secret ${name} is itself refused` }
  return { reason: 'RefNotFound', message: `there is no Secret ${name} in namespace ${namespace}` }
}

/** An empty value counts as missing: no provider accepts it. */
export function hasValue({ values }: SecretObject, key: string): boolean {
  return (values.get(key) ?? '') !== ''
}

/** The first of these keys whose value is longer than a credential may be; null if there is none. */
export function tooLargeKey({ values }: SecretObject, keys: readonly string[]): string | null {
  return keys.find((key) => byteLength(values.get(key) ?? '') > LIMITS.credentialBytes) ?? null
}

interface SigningRefs {
  readonly refs: PreviousSecretSpec & { readonly secretRef: KeyRef }
  /** Where the spec names them. */
  readonly pointer: string
}

/** The secrets that sign what is posted, by the names that senders know; null after a problem has been reported. */
export function signingSecrets(
  compiler: Compiler,
  from: ObjectId,
  { refs: { secretRef, previousSecretRef }, pointer }: SigningRefs,
): Readonly<Record<string, string>> | null {
  if (compiler.isWithoutSecrets) return {}
  const secret = secretValue(compiler, from, { ref: secretRef, pointer: `${pointer}/secretRef` })
  if (secret === null || previousSecretRef === undefined) return secret === null ? null : { secret }
  const previous = secretValue(compiler, from, { ref: previousSecretRef, pointer: `${pointer}/previousSecretRef` })
  return previous === null ? null : { secret, previous }
}

/** When the previous secret stops signing, in Unix ms. Null: it signs as long as it is referred to. The schema has shown that a time can be read. */
export function previousSecretUntilMs({ previousSecretUntil }: PreviousSecretSpec): number | null {
  return previousSecretUntil === undefined ? null : Date.parse(previousSecretUntil)
}

interface NamedValue {
  readonly ref: KeyRef
  readonly pointer: string
}

function secretValue(compiler: Compiler, from: ObjectId, { ref, pointer }: NamedValue): string | null {
  const secret = secretOf(compiler, from, ref.name, pointer)
  if (secret === null) return null
  const at = `${pointer}/key`
  if (!hasValue(secret, ref.key)) {
    compiler.report(from, 'RefNotFound', at, `Secret ${secret.name} has no value for ${ref.key}`)
    return null
  }
  if (tooLargeKey(secret, [ref.key]) !== null) {
    const message = `the value of ${ref.key} in Secret ${secret.name} has more than ${LIMITS.credentialBytes} bytes`
    compiler.report(from, 'TooLarge', at, message)
    return null
  }
  return secret.values.get(ref.key) ?? ''
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
