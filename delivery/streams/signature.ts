/** Signs what is posted to webhooks, by the Standard Webhooks specification (standardwebhooks.com, version 1). */

import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

interface SignedMessage {
  /** The same at every try. */
  readonly id: string
  readonly body: string | Buffer
  readonly atMs: number
}

/** `secret`: `whsec_` and base64, or any other text, whose bytes are then the key. */
export function webhookHeaders({ id, body, atMs }: SignedMessage, secret: string): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const key = secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
