/** Compiles one LogStream: its address, its Secret, and its place in the plan. */

import { logStreamKey, type LogStream } from '../catalog.ts'
import { LIMITS } from '../limits.ts'
import type { HeldForms } from './compile-held.ts'
import { objectKey, type Resource } from './objects.ts'
import { organizationOf } from './compile-references.ts'
import { hasValue, secretOf, tooLargeKey } from './compile-secrets.ts'
import type { Compiler } from './compiler.ts'
import { displayNameOf, hasRoom, isLeftOut } from './compiler.ts'
import { parseOutboundUrl } from './outbound-address.ts'

const S3_KEYS = ['access-key-id', 'secret-access-key']

/** Adds it to its organisation, or reports why it is refused. */
export function compileLogStream(compiler: Compiler, resource: Resource<'LogStream'>): void {
  const organization = organizationOf(compiler, resource)
  if ((resource.spec.s3 === undefined) === (resource.spec.webhook === undefined)) {
    compiler.report(resource, 'InvalidField', '/spec', 'must have either s3 or webhook, and not both')
    return
  }
  const displayName = displayNameOf(compiler, resource)
  const isCallable = hasCallableAddress(compiler, resource)
  const access = streamAccess(compiler, resource)
  if (organization === null || displayName === null || !isCallable) return
  const room = { count: 'logStreams', wanted: organization.logStreams.length + 1, field: '' } as const
  if (!hasRoom(compiler, resource, organization.plan, room)) return
  if (access === null || isLeftOut(compiler, resource)) return
  const stream = finishedStream(resource, displayName)
  organization.logStreams.push(stream)
  if (!compiler.isWithoutSecrets) compiler.credentials.set(logStreamKey(stream), access)
}

/** The same object as long as its resource is. */
function finishedStream(resource: Resource<'LogStream'>, displayName: string): LogStream {
  const { namespace, name: objectName, spec } = resource
  const { webhook, paused: isPaused, filter, includeBodies, startFrom, compress } = spec
  resource.memo ??= Object.freeze({
    ...{ id: `${namespace}/${objectName}`, namespace, objectName, displayName },
    webhook: webhook === undefined ? null : { url: webhook.url },
    ...{ isPaused, filter, includeBodies, startFrom, compress },
  } satisfies LogStream)
  return resource.memo as LogStream
}

/** Streams of namespaces that cannot be read stay as they were, after those that can. */
export function holdLogStreams(compiler: Compiler, { catalog, credentials, namespaces }: HeldForms): void {
  for (const organization of catalog.organizations.values()) {
    const draft = compiler.organizations.get(objectKey('Organization', organization.namespace, organization.objectName))
    for (const stream of organization.logStreams) {
      const access = credentials.get(logStreamKey(stream))
      // Without credentials it could only fail.
      if (draft === undefined || access === undefined || !namespaces.has(stream.namespace)) continue
      compiler.credentials.set(logStreamKey(stream), access)
      if (!draft.logStreams.some(({ id }) => id === stream.id)) draft.logStreams.push(stream)
    }
  }
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

/** What its sender needs, by name; null after a problem has been reported. */
function streamAccess(compiler: Compiler, resource: Resource<'LogStream'>): Readonly<Record<string, string>> | null {
  if (compiler.isWithoutSecrets) return {}
  const { s3, webhook } = resource.spec
  const [pointer, name] =
    s3 === undefined
      ? ['/spec/webhook/secretRef', webhook?.secretRef.name]
      : ['/spec/s3/credentialsRef', s3.credentialsRef.name]
  const secret = secretOf(compiler, resource, name ?? '', pointer)
  if (secret === null) return null
  const keys = s3 === undefined ? [webhook?.secretRef.key ?? ''] : S3_KEYS
  const at = s3 === undefined ? `${pointer}/key` : pointer
  const missing = keys.find((key) => !hasValue(secret, key))
  if (missing !== undefined) {
    compiler.report(resource, 'RefNotFound', at, `Secret ${secret.name} has no value for ${missing}`)
    return null
  }
  const large = tooLargeKey(secret, keys)
  if (large !== null) {
    const message = `the value of ${large} in Secret ${secret.name} has more than ${LIMITS.credentialBytes} bytes`
    compiler.report(resource, 'TooLarge', at, message)
    return null
  }
  const values = keys.map((key) => [s3 === undefined ? 'secret' : key, secret.values.get(key) ?? ''])
  return Object.fromEntries(values) as Readonly<Record<string, string>>
}
