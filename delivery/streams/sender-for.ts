/** Chooses the sender of a stream: to its webhook or to its bucket. */

import type { OutboundParts } from '../outbound/call.ts'
import { bucketSender } from './bucket-sender.ts'
import type { StreamInForce } from './in-force.ts'
import { webhookSender, type StreamSender } from './sender.ts'

/** How addresses of tenants are reached. */
interface Outbounds {
  readonly webhook: OutboundParts
  readonly bucket: OutboundParts
}

export function senderFor(
  { stream: { objectName: stream, compress }, target }: Pick<StreamInForce, 'stream' | 'target'>,
  { webhook, bucket }: Outbounds,
  nowMs: () => number,
): StreamSender {
  return target.kind === 's3'
    ? bucketSender({ stream, target, outbound: bucket, nowMs })
    : webhookSender({ stream, target, compress, outbound: webhook, nowMs })
}
