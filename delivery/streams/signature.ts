/** Signs what is posted to webhooks, by the Standard Webhooks specification (standardwebhooks.com, version 1). */

import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'

interface SignedMessage {
  /** The same at every attempt. */
  readonly id: string
  readonly body: string | Buffer
  readonly atMs: number
}

export interface SigningKeys {
  readonly secret: string
  /** The secret before, which signs too during a rotation. */
  readonly previous: string | null
  /** In Unix ms. Null: as long as there is one. */
  readonly previousUntilMs: number | null
}

/** The secrets that sign at this time, the current one first. */
export function secretsAt({ secret, previous, previousUntilMs }: SigningKeys, atMs: number): readonly string[] {
  const isValid = previous !== null && (previousUntilMs === null || atMs < previousUntilMs)
  return isValid ? [secret, previous] : [secret]
}

/**
 * One signature for each secret: during a rotation, receivers accept a message if they know one of them.
 *
 * @param secrets each `whsec_` and base64, or any other text, whose bytes are then the key
 */
export function webhookHeaders(
  { id, body, atMs }: SignedMessage,
  ...secrets: readonly string[]
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1_000))
  const signatures = secrets.map((secret) => {
    const signature = createHmac('sha256', signingKey(secret))
      .update(`${id}.${timestamp}.`)
      .update(body)
      .digest('base64')
    return `v1,${signature}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

function signingKey(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret)
}
