/**
 * Passes: what opens figures to whoever shows it, in place of a session. A program shows a key, and whoever was sent a link shows its token. The text
 * itself is stored nowhere: 256 random bits need no salt.
 */

import { decodeBase64url, encodeBase64url } from '../base64url.ts'
import type { Sha256Hex } from '../origin.ts'

export type PassKind = 'ApiKey' | 'ShareLink'

/** What all passes have. */
export interface Pass {
  readonly namespace: string
  /** Name of the object. */
  readonly name: string
  /** ID of the organisation. */
  readonly organization: string
  readonly expiresAtMs: number
  /** As `hashOfPass` writes it. */
  readonly hash: string
}

export const PASS_BYTES = 32

/** The pass made of these random bytes: the prefix of its kind, and 43 characters. */
export function passText(prefix: string, bytes: Uint8Array): string {
  return prefix + encodeBase64url(bytes)
}

/** Whether it is one of this kind, in the one way of writing its bytes. */
export function isPassText(prefix: string, text: string): boolean {
  return text.startsWith(prefix) && decodeBase64url(text.slice(prefix.length))?.length === PASS_BYTES
}

/** What is stored of a pass: `sha256:` and the digest of its whole text. */
export function hashOfPass(text: string, sha256Hex: Sha256Hex): string {
  return `sha256:${sha256Hex(text)}`
}

/** The pass with this hash among those in force; null if there is none, or if it has ended. */
export function passInForce<P extends Pass>(passes: ReadonlyMap<string, P>, hash: string, nowMs: number): P | null {
  const pass = passes.get(hash)
  return pass !== undefined && pass.expiresAtMs > nowMs ? pass : null
}
