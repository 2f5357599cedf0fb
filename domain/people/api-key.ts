/** API keys as the dashboard knows them, and how a request shows one. */

import type { KeyScope } from '../model.ts'
import type { ApiKeySpec } from '../resources/api-key-schema.ts'
import { isPassText, passText, type Pass } from './pass.ts'

export interface ApiKey extends Pass {
  readonly scopes: readonly KeyScope[]
}

const PREFIX = 'whk_'

/** The key made of these random bytes: `whk_` and 43 characters. */
export function apiKeyText(bytes: Uint8Array): string {
  return passText(PREFIX, bytes)
}

/** The key that the header `Authorization` of a request shows; null if it shows none. The word `Bearer` may be in any case (RFC 9110). */
export function presentedKey(authorization: string | undefined): string | null {
  const key = /^bearer +(whk_[\w-]{43}) *$/i.exec(authorization ?? '')?.[1]
  return key !== undefined && isPassText(PREFIX, key) ? key : null
}

/** `organization` is its ID. */
export function apiKeyFrom(
  { namespace, name, spec }: { readonly namespace: string; readonly name: string; readonly spec: ApiKeySpec },
  organization: string,
): ApiKey {
  const { scopes, expiresAt, keyHash: hash } = spec
  return { namespace, name, organization, scopes, expiresAtMs: Date.parse(expiresAt), hash }
}
