/**
 * Checks one LogStream: its address, its Secret, and its place in the plan. Nothing forwards Logs yet, so it compiles
 * to nothing.
 */

import type { Resource } from './objects.ts'
import { organizationOf } from './compile-references.ts'
import { hasValue, secretOf } from './compile-secrets.ts'
import type { Compiler } from './compiler.ts'
import { displayNameOf, hasRoom } from './compiler.ts'
import { parseOutboundUrl } from './outbound-address.ts'

const S3_KEYS = ['access-key-id', 'secret-access-key']

/** Counts it toward the organisation's log streams, or reports why it is refused. */
export function compileLogStream(compiler: Compiler, resource: Resource<'LogStream'>): void {
  const organization = organizationOf(compiler, resource)
  if ((resource.spec.s3 === undefined) === (resource.spec.webhook === undefined)) {
    compiler.report(resource, 'InvalidField', '/spec', 'must have either s3 or webhook, and not both')
    return
  }
  const displayName = displayNameOf(compiler, resource)
  const isCallable = hasCallableAddress(compiler, resource)
  const isSigned = hasSecret(compiler, resource)
  if (organization === null || displayName === null || !isCallable) return
  const room = { count: 'logStreams', wanted: organization.logStreamCount + 1, field: '' } as const
  if (hasRoom(compiler, resource, organization.plan, room) && isSigned) organization.logStreamCount += 1
}

/** Checks the text now; what its name resolves to is checked at every call. */
function hasCallableAddress(compiler: Compiler, resource: Resource<'LogStream'>): boolean {
  const { s3, webhook } = resource.spec
  const [field, address] =
    s3 === undefined ? ['/spec/webhook/url', webhook?.url] : ['/spec/s3/endpoint', s3['endpoint']]
  const parsed = parseOutboundUrl(typeof address === 'string' ? address : '')
  if (!parsed.ok) compiler.report(resource, 'InvalidField', field, parsed.why)
  return parsed.ok
}

function hasSecret(compiler: Compiler, resource: Resource<'LogStream'>): boolean {
  if (compiler.isWithoutSecrets) return true
  const { s3, webhook } = resource.spec
  const [pointer, name] =
    s3 === undefined
      ? ['/spec/webhook/secretRef', webhook?.secretRef.name]
      : ['/spec/s3/credentialsRef', s3.credentialsRef.name]
  const secret = secretOf(compiler, resource, name ?? '', pointer)
  if (secret === null) return false
  const keys = s3 === undefined ? [webhook?.secretRef.key ?? ''] : S3_KEYS
  const missing = keys.find((key) => !hasValue(secret, key))
  if (missing === undefined) return true
  const at = s3 === undefined ? `${pointer}/key` : pointer
  compiler.report(resource, 'RefNotFound', at, `Secret ${secret.name} has no value for ${missing}`)
  return false
}
