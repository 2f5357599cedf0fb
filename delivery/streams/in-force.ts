/** The log streams that this process can send. */

import { logStreamKey, type Credentials, type LogStream, type CatalogOrganizations } from '../../domain/catalog.ts'
import { isOfAnotherObject, type StreamForm, type StreamProgress } from '../../domain/streams/progress.ts'
import type { CatalogWaits } from '../catalog-waits.ts'
import type { StreamTarget } from './sender.ts'

/** A stream as it is configured now. */
export interface StreamInForce {
  readonly stream: LogStream
  readonly organization: { readonly id: string; readonly logRetentionDays: number }
  readonly target: StreamTarget
}

/** The streams for which this process has an address and credentials. */
export function streamsInForce(
  { organizations }: CatalogOrganizations,
  credentials: Credentials,
): readonly StreamInForce[] {
  return [...organizations.values()].flatMap((organization) =>
    organization.logStreams.flatMap((stream) => {
      const target = targetOf(stream, credentials.get(logStreamKey(stream)) ?? {})
      return target === null ? [] : [{ stream, organization, target }]
    }),
  )
}

interface PlaceOfStream {
  readonly webhook: LogStream['webhook']
  readonly s3: LogStream['s3']
}

/** Null without an address or credentials. */
function targetOf({ webhook, s3 }: PlaceOfStream, held: Readonly<Record<string, string>>): StreamTarget | null {
  if (webhook !== null) return webhookTarget(webhook, held)
  const { 'access-key-id': accessKeyId, 'secret-access-key': secretAccessKey, 'session-token': sessionToken } = held
  if (s3 === null || accessKeyId === undefined || secretAccessKey === undefined) return null
  return { kind: 's3', ...s3, accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null }
}

function webhookTarget(
  { url, previousSecretUntilMs = null }: NonNullable<LogStream['webhook']>,
  { secret, previous = null }: { readonly secret?: string; readonly previous?: string | null },
): StreamTarget | null {
  return secret === undefined
    ? null
    : { kind: 'webhook', url, secret, previous, previousUntilMs: previousSecretUntilMs }
}

/** Which records it sends, and how, as it is configured now. */
export function streamForm({ stream: { filter, includeBodies, compress }, target }: StreamInForce): StreamForm {
  return { ...filter, includeBodies, compress, ...(target.kind === 's3' ? { prefix: target.prefix } : {}) }
}

/** True, and told, if the progress belongs to another object than the known one, of a newer catalog than the one here. */
export function isOfNewerObject(progress: StreamProgress | null, uid: string, waits: CatalogWaits): boolean {
  if (progress === null || !isOfAnotherObject(progress, uid) || !waits.isBehind(progress.catalogNumber)) return false
  waits.waitFor(progress.catalogNumber)
  return true
}
