/** Chooses the sender of a stream: to its webhook or to its bucket. */

import type { LogStream } from '../../domain/catalog.ts'
import type { OutboundParts } from '../outbound/call.ts'
import { bucketSender } from './bucket-sender.ts'
import { webhookSender, type StreamSender, type StreamTarget } from './sender.ts'

/** How addresses of tenants are reached. */
export interface StreamOutbound {
  readonly webhook: OutboundParts
  readonly bucket: OutboundParts
}

export function senderFor(
  { stream: { objectName: stream, compress }, target }: { readonly stream: LogStream; readonly target: StreamTarget },
  { webhook, bucket }: StreamOutbound,
  nowMs: () => number,
): StreamSender {
  return target.kind === 's3'
    ? bucketSender({ stream, target, outbound: bucket, nowMs })
    : webhookSender({ stream, target, compress, outbound: webhook, nowMs })
}
