/** Reads the identity provider's configuration in the background: an unreachable provider does not delay a start. */

import * as client from 'openid-client'

import { unlessAborted } from '../../common/deadline.ts'
import { every, type Repetition } from '../../common/every.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import type { Logger } from '../../runtime/logger.ts'

interface DiscoveryOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** What is asked for at a sign-in, separated by spaces. */
  readonly scopes: string
  readonly logger: Logger
  /** Pause between two attempts; set by tests. */
  readonly retryMs?: number
}

export interface Discovery {
  readonly scopes: string
  /** Null until the provider has been reached once. */
  readonly current: () => client.Configuration | null
  readonly close: Repetition['close']
}

const RETRY_MS = 5_000
/** Keys and addresses rarely change; the library fetches keys again if a signature names an unknown one. */
const REFRESH_MS = 6 * HOUR_MS
const TIMEOUT_S = 10

export function startDiscovery(options: DiscoveryOptions): Discovery {
  const { issuer, clientId, clientSecret, logger, retryMs = RETRY_MS } = options
  let current: client.Configuration | null = null
  const url = new URL(issuer)
  // Only for trials on localhost.
  const isLoopback = url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  // The library trusts TLS for who signed an ID token, and checks the signature only if it is asked to.
  const execute = [client.enableNonRepudiationChecks, ...(isLoopback ? [client.allowInsecureRequests] : [])]
  const look = async (): Promise<void> => {
    const found = await client.discovery(url, clientId, clientSecret, undefined, { execute, timeout: TIMEOUT_S })
    if (current === null) logger.info({ issuer }, 'identity provider found')
    current = found
  }
  const failed = (error: unknown): void => {
    const why = error instanceof Error ? error.message : ''
    logger.warn({ issuer, why, task: 'find_identity_provider' }, 'identity provider not reached')
  }
  const round = async (): Promise<void> => {
    if (current === null) return look()
    // What is known goes on serving until the next refresh.
    await look().catch(failed)
  }
  const { close } = every(REFRESH_MS, (signal) => unlessAborted(signal, round), { retryMs, onFailure: failed })
  return { scopes: options.scopes, current: () => current, close }
}
