/** Compiles one LogStream: its address, its Secret, and its place in the plan. */

import { logStreamKey, type LogStream } from '../catalog.ts'
import type { LogStreamSpec } from '../resources/log-stream-schema.ts'
import type { HeldForms } from './compile-held.ts'
import { objectKey, type Resource } from './objects.ts'
import { organizationOf } from './compile-references.ts'
import { areUsable, hasValue, previousSecretUntilMs, secretOf, signingSecrets } from './compile-secrets.ts'
import type { Compiler } from './compiler.ts'
import { displayNameOf, hasRoom, isLeftOut } from './compiler.ts'
import { withoutBrackets } from '../host.ts'
import { isNetwork, parseOutboundUrl } from '../outbound/address.ts'

const S3_KEYS = ['access-key-id', 'secret-access-key']
/** The key of temporary credentials only. */
const S3_OPTIONAL_KEY = 'session-token'
/** The names that S3 itself accepts for new buckets. */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
/** All keys that the Secret of a bucket may have. */
export const BUCKET_MEMBERS: readonly string[] = [...S3_KEYS, S3_OPTIONAL_KEY]

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
  const room = { count: 'logStreams', wanted: organization.parts.logStreams.length + 1, field: '' } as const
  if (!hasRoom(compiler, resource, organization.plan, room)) return
  if (access === null || isLeftOut(compiler, resource)) return
  const stream = finishedStream(resource, displayName)
  organization.parts.logStreams.push(stream)
  if (!compiler.rules.isWithoutSecrets) compiler.made.credentials.set(logStreamKey(stream), access)
}

/** The same object as long as its resource is the same. */
function finishedStream(resource: Resource<'LogStream'>, displayName: string): LogStream {
  const { namespace, name: objectName, uid, spec } = resource
  const { webhook, s3, paused: isPaused, filter, includeBodies, startFrom, compress, flushSeconds } = spec
  resource.memo ??= Object.freeze({
    id: `${namespace}/${objectName}`,
    uid,
    namespace,
    objectName,
    displayName,
    webhook: webhook === undefined ? null : { url: webhook.url, previousSecretUntilMs: previousSecretUntilMs(webhook) },
    s3: s3 === undefined ? null : bucketOf(s3),
    isPaused,
    filter,
    includeBodies,
    startFrom,
    compress,
    flushSeconds,
  } satisfies LogStream)
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  return resource.memo as LogStream
}

function bucketOf({ endpoint, prefix = '', encryption, ...s3 }: NonNullable<LogStreamSpec['s3']>): LogStream['s3'] {
  const { region, bucket, addressing } = s3
  const at = { endpoint: new URL(endpoint).origin, region, bucket, prefix: prefix.replace(/^\/|\/$/g, '') }
  return { ...at, addressing, encryption: encryption ?? null }
}

/** Streams of namespaces that cannot be read, and held streams, stay as they were, after the others. */
export function holdLogStreams(compiler: Compiler, { catalog, credentials, namespaces, objects }: HeldForms): void {
  for (const organization of catalog.organizations.values()) {
    const draft = compiler.made.organizations.get(
      objectKey('Organization', organization.namespace, organization.objectName),
    )
    for (const stream of organization.logStreams) {
      const access = credentials.get(logStreamKey(stream))
      // Without credentials it could only fail.
      if (draft === undefined || access === undefined) continue
      const isHeld = objects.has(objectKey('LogStream', stream.namespace, stream.objectName))
      if (!isHeld && !namespaces.has(stream.namespace)) continue
      compiler.made.credentials.set(logStreamKey(stream), access)
      const { logStreams } = draft.parts
      if (!logStreams.some(({ id }) => id === stream.id)) logStreams.push(stream)
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
  if (!parsed.ok || s3 === undefined) return parsed.ok
  const wrong = bucketProblem(s3, new URL(parsed.value.href))
  if (wrong !== null) compiler.report(resource, 'InvalidField', wrong.field, wrong.why)
  return wrong === null
}

interface BucketFault {
  readonly field: string
  readonly why: string
}

/** An object's address is built from these: it must lead into this bucket and nowhere else. */
function bucketProblem(s3: NonNullable<LogStreamSpec['s3']>, { pathname, search, hostname }: URL): BucketFault | null {
  const { bucket, prefix = '', addressing, encryption } = s3
  if (pathname !== '/' || search !== '') return { field: '/spec/s3/endpoint', why: 'must have neither path nor query' }
  if (!BUCKET.test(bucket)) {
    return { field: '/spec/s3/bucket', why: 'must be lower case letters, digits, dots and hyphens' }
  }
  if (addressing === 'VirtualHost' && !hasRoomBefore(hostname, bucket))
    return {
      field: '/spec/s3/addressing',
      why: 'can be VirtualHost only for a bucket without dots at a host with a name',
    }
  if (encryption?.kmsKeyId !== undefined && encryption.algorithm === 'AES256')
    return { field: '/spec/s3/encryption/kmsKeyId', why: 'goes with aws:kms or aws:kms:dsse' }
  return isPlainPrefix(prefix) ? null : { field: '/spec/s3/prefix', why: 'must be names with slashes between them' }
}

/** The certificate of a store covers one label before its host. */
function hasRoomBefore(hostname: string, bucket: string): boolean {
  return !bucket.includes('.') && !isNetwork(withoutBrackets(hostname))
}

function isPlainPrefix(prefix: string): boolean {
  const segments = prefix === '' ? [] : prefix.replace(/^\/|\/$/g, '').split('/')
  return segments.every((segment) => !['', '.', '..'].includes(segment) && !/[\p{Cc}\\]/u.test(segment))
}

/** The credentials of its sender, by name; null after a problem has been reported. */
function streamAccess(compiler: Compiler, resource: Resource<'LogStream'>): Readonly<Record<string, string>> | null {
  const { s3, webhook } = resource.spec
  if (webhook !== undefined) return signingSecrets(compiler, resource, { refs: webhook, pointer: '/spec/webhook' })
  if (compiler.rules.isWithoutSecrets || s3 === undefined) return {}
  return bucketAccess(compiler, resource, s3.credentialsRef.name)
}

function bucketAccess(
  compiler: Compiler,
  resource: Resource<'LogStream'>,
  name: string,
): Readonly<Record<string, string>> | null {
  const field = '/spec/s3/credentialsRef'
  const secret = secretOf(compiler, resource, name, field)
  if (secret === null) return null
  const missing = S3_KEYS.find((key) => !hasValue(secret.values, key))
  if (missing !== undefined) {
    compiler.report(resource, 'RefNotFound', field, `Secret ${secret.name} has no value for ${missing}`)
    return null
  }
  const used = [...S3_KEYS, ...(hasValue(secret.values, S3_OPTIONAL_KEY) ? [S3_OPTIONAL_KEY] : [])]
  if (!areUsable(compiler, resource, { secret, keys: used, field })) return null
  return Object.fromEntries(used.map((key) => [key, secret.values.get(key) ?? '']))
}
