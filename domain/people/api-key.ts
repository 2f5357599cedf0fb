/** API keys as the dashboard knows them, and how a request shows one. The key itself is stored nowhere: 256 random bits need no salt. */

import { decodeBase64url, encodeBase64url } from '../base64url.ts'
import type { KeyScope } from '../model.ts'
import type { Sha256Hex } from '../origin.ts'
import type { ApiKeySpec } from '../resources/api-key-schema.ts'

export interface ApiKey {
  readonly namespace: string
  /** Name of the object. */
  readonly name: string
  /** ID of the organisation. */
  readonly organization: string
  readonly scopes: readonly KeyScope[]
  readonly expiresAtMs: number
  /** As `hashOfKey` writes it. */
  readonly hash: string
}

const PREFIX = 'whk_'
export const API_KEY_BYTES = 32

/** The key made of these random bytes: `whk_` and 43 characters. */
export function apiKeyText(bytes: Uint8Array): string {
  return PREFIX + encodeBase64url(bytes)
}

/** What is stored of a key: `sha256:` and the digest of its whole text. */
export function hashOfKey(key: string, sha256Hex: Sha256Hex): string {
  return `sha256:${sha256Hex(key)}`
}

/** The key that the header `Authorization` of a request shows; null if it shows none. The word `Bearer` may be in any case (RFC 9110). */
export function presentedKey(authorization: string | undefined): string | null {
  const key = /^bearer +(whk_[\w-]{43}) *$/i.exec(authorization ?? '')?.[1]
  if (key === undefined || !key.startsWith(PREFIX)) return null
  return decodeBase64url(key.slice(PREFIX.length)) === null ? null : key
}

/** The key with this hash among those in force; null if there is none, or if it has ended. */
export function keyInForce(keys: ReadonlyMap<string, ApiKey>, hash: string, nowMs: number): ApiKey | null {
  const key = keys.get(hash)
  return key !== undefined && key.expiresAtMs > nowMs ? key : null
}

/** `organization` is its ID. */
export function apiKeyFrom(
  { namespace, name, spec }: { readonly namespace: string; readonly name: string; readonly spec: ApiKeySpec },
  organization: string,
): ApiKey {
  const { scopes, expiresAt, keyHash: hash } = spec
  return { namespace, name, organization, scopes, expiresAtMs: Date.parse(expiresAt), hash }
}
