/** Whether the address of a stream has shown that it wants it: by returning the challenge. */

import { randomBytes } from 'node:crypto'

import type { StreamProgress } from '../../domain/streams/progress.ts'
import type { StreamInForce } from './in-force.ts'
import { addressDigest } from './sender.ts'

export function newChallenge(): string {
  return randomBytes(16).toString('hex')
}

/** The address passed the challenge. */
export function proven(inForce: StreamInForce, progress: StreamProgress): StreamProgress {
  const settled = { failures: 0, failingSinceMs: null, retryAtMs: 0, lastError: '', failedWith: '' }
  return { ...progress, ...settled, provenTarget: addressDigest(inForce.target) }
}

/** An address that passed the challenge once need not pass it again for a new secret. */
export function isProven({ target }: StreamInForce, { provenTarget }: StreamProgress): boolean {
  return provenTarget === addressDigest(target)
}
