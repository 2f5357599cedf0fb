/** Checks the signature of the payment provider's webhook: over the raw body, at most five minutes old or ahead. */

import { createHmac, timingSafeEqual } from 'node:crypto'

import { boundedParts } from '../../common/bounded-parts.ts'
import { SECOND_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'

const HEADER_CHARS = 2_048

interface SignedBody {
  readonly body: Uint8Array
  /** `t=1700000000,v1=…`, with one `v1` for each secret while secrets are rotated. */
  readonly header: string
}

/** Parsed once and strictly, so that the time that is checked is the time that was signed. */
export function isSigned({ body, header }: SignedBody, secret: string, nowMs: number): boolean {
  const parts = (boundedParts(header.slice(0, HEADER_CHARS), ',', LIMITS.headerParts) ?? []).map((part) =>
    part.split('='),
  )
  const times = parts.filter(([name]) => name === 't').map(([, value = '']) => value)
  const [time = ''] = times
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(time)) return false
  if (Math.abs(nowMs - Number(time) * SECOND_MS) > LIMITS.paymentWebhookAgeMs) return false
  const wanted = createHmac('sha256', secret).update(`${time}.`).update(body).digest()
  return parts.some(([name, value = '']) => name === 'v1' && isHexOf(value, wanted))
}

function isHexOf(text: string, wanted: Buffer): boolean {
  return /^[0-9a-f]{64}$/.test(text) && timingSafeEqual(Buffer.from(text, 'hex'), wanted)
}
