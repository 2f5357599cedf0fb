/** Finds the Secret that an object refers to, and refuses reserved ones. */

import type { CheckedObjects, ObjectId, SecretObject } from './objects.ts'
import { objectKey } from './objects.ts'
import type { Compiler, Reporting } from './compiler.ts'
import type { KeyRef, PreviousSecretSpec } from '../resources/resource-fields.ts'
import type { ProblemReason } from '../resources/problems.ts'
import { LIMITS } from '../limits.ts'
import { hasInvisible } from '../schema/pasted-text.ts'

/**
 * The Secret in the object's own namespace, or null after the problem has been reported. `pointer` points to the
 * reference.
 */
export function secretOf(compiler: Compiler, from: ObjectId, name: string, pointer: string): SecretObject | null {
  const { namespace } = from
  const key = objectKey('Secret', namespace, name)
  const field = `${pointer}/name`
  if (compiler.rules.ownSecrets.has(key)) {
    compiler.report(from, 'SecretReserved', field, `Secret ${name} belongs to the service itself`)
    return null
  }
  const tenant = compiler.ownership.tenants.get(from.key) ?? ''
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
export function hasValue(values: ReadonlyMap<string, string>, key: string): boolean {
  return (values.get(key) ?? '') !== ''
}

/** A message is about the value, and completes "the value of KEY in Secret NAME …". It never repeats the value. */
interface ValueRule {
  readonly reason: ProblemReason
  readonly message: string
  readonly isBroken: (text: string, key: string) => boolean
}

const QUOTATION_MARKS = '"\'`\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u00ab\u00bb'

/** What cannot be sent as a credential, although it is a text: what was pasted with it, or a file of another form. */
const VALUE_RULES: readonly ValueRule[] = [
  {
    reason: 'TooLarge',
    message: `has more than ${LIMITS.credentialBytes} bytes`,
    isBroken: (text) => byteLength(text) > LIMITS.credentialBytes,
  },
  {
    reason: 'InvalidField',
    message: 'is not the JSON of a service account, as Google gives it',
    isBroken: (text, key) => isJsonKey(key) && !isJsonObject(text),
  },
  {
    reason: 'InvalidField',
    message: 'has a line break or an invisible character in it',
    isBroken: (text, key) => !isJsonKey(key) && hasInvisible(text),
  },
  {
    reason: 'InvalidField',
    message: 'stands in quotation marks: write it without them',
    isBroken: (text) =>
      text.length > 1 && QUOTATION_MARKS.includes(text.charAt(0)) && QUOTATION_MARKS.includes(text.slice(-1)),
  },
]

/** Whether all values of these keys can be used; otherwise the first problem has been reported at `field`. */
export function areUsable(
  compiler: Reporting,
  from: ObjectId,
  { secret, keys, field }: { readonly secret: SecretObject; readonly keys: readonly string[]; readonly field: string },
): boolean {
  for (const key of keys) {
    const text = secret.values.get(key) ?? ''
    const broken = VALUE_RULES.find(({ isBroken }) => isBroken(text, key))
    if (broken === undefined) continue
    compiler.report(from, broken.reason, field, `the value of ${key} in Secret ${secret.name} ${broken.message}`)
    return false
  }
  return true
}

function isJsonKey(key: string): boolean {
  return key.endsWith('.json')
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
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
  if (compiler.rules.isWithoutSecrets) return {}
  const secret = secretValue(compiler, from, { ref: secretRef, pointer: `${pointer}/secretRef` })
  if (secret === null || previousSecretRef === undefined) return secret === null ? null : { secret }
  const previous = secretValue(compiler, from, { ref: previousSecretRef, pointer: `${pointer}/previousSecretRef` })
  return previous === null ? null : { secret, previous }
}

/** An address that is itself the secret; null after a problem has been reported. */
export function addressSecret(
  compiler: Compiler,
  from: ObjectId,
  ref: KeyRef,
): Readonly<Record<string, string>> | null {
  if (compiler.rules.isWithoutSecrets) return {}
  const url = secretValue(compiler, from, { ref, pointer: '/spec/urlSecretRef' })
  return url === null ? null : { url }
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
  if (!hasValue(secret.values, ref.key)) {
    compiler.report(from, 'RefNotFound', at, `Secret ${secret.name} has no value for ${ref.key}`)
    return null
  }
  return areUsable(compiler, from, { secret, keys: [ref.key], field: at }) ? (secret.values.get(ref.key) ?? '') : null
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
