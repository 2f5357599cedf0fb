/** The log streams that this process can send. */

import {
  logStreamKey,
  type Catalog,
  type Credentials,
  type LogStream,
  type Organization,
} from '../../domain/catalog.ts'
import type { StreamTarget } from './sender.ts'

/** A stream as it is configured now. */
export interface StreamInForce {
  readonly stream: LogStream
  readonly organization: Pick<Organization, 'id' | 'logRetentionDays'>
  readonly target: StreamTarget
}

/** Those that this process has what it takes to send. */
export function streamsInForce(
  { organizations }: Pick<Catalog, 'organizations'>,
  credentials: Credentials,
): readonly StreamInForce[] {
  return [...organizations.values()].flatMap((organization) =>
    organization.logStreams.flatMap((stream) => {
      const secret = credentials.get(logStreamKey(stream))?.['secret']
      if (stream.webhook === null || secret === undefined) return []
      return [{ stream, organization, target: { url: stream.webhook.url, secret } }]
    }),
  )
}
