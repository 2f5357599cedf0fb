/** Checks one ApiKey: its end, its place among those of its organisation, and that no older one has the same key. */

import { DAY_MS } from '../durations.ts'
import { LIMITS } from '../limits.ts'
import { apiKeyFrom, type ApiKey } from '../people/api-key.ts'
import { organizationOf } from './compile-references.ts'
import { displayNameOf, type Compiler } from './compiler.ts'
import type { Resource } from './objects.ts'

/** The keys that open something. Only the dashboard reads this; it is not part of the catalog. */
export interface ApiKeysInForce {
  /** By their hash, the oldest first. */
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  /** Unix ms: from then on the same objects give another result. Infinity if they never do. */
  readonly changesAtMs: number
}

const MOST_MS = LIMITS.apiKeyDays * DAY_MS

interface KeysBefore {
  readonly nowMs: number
  /** Keys so far, by organisation and by hash. */
  readonly counts: Map<string, number>
  readonly made: Map<string, ApiKey>
}

export function compileApiKeys(compiler: Compiler, nowMs: number): ApiKeysInForce {
  const around: KeysBefore = { nowMs, counts: new Map(), made: new Map() }
  const resources = compiler.objects.resources.ApiKey
  for (const resource of resources) compileApiKey(compiler, resource, around)
  const changesAtMs = resources.reduce((next, { spec }) => Math.min(next, nextChangeMs(spec, nowMs)), Infinity)
  return { apiKeys: around.made, changesAtMs }
}

/** When the key ends, or before that when its end is near enough. */
function nextChangeMs({ expiresAt }: { readonly expiresAt: string }, nowMs: number): number {
  const expiresAtMs = Date.parse(expiresAt)
  return [expiresAtMs - MOST_MS, expiresAtMs].find((ms) => ms > nowMs) ?? Infinity
}

function compileApiKey(compiler: Compiler, resource: Resource<'ApiKey'>, around: KeysBefore): void {
  const organization = organizationOf(compiler, resource)
  if (organization === null || displayNameOf(compiler, resource) === null) return
  const key = apiKeyFrom(resource, organization.id)
  if (isInTime(compiler, resource, key, around) && hasPlace(compiler, resource, key, around))
    around.made.set(key.hash, key)
}

/** An ended one takes up no place. */
function isInTime(
  compiler: Compiler,
  resource: Resource<'ApiKey'>,
  { expiresAtMs }: ApiKey,
  { nowMs }: KeysBefore,
): boolean {
  if (expiresAtMs - nowMs > MOST_MS) {
    const message = `must be at most ${LIMITS.apiKeyDays} days ahead`
    compiler.report(resource, 'InvalidField', '/spec/expiresAt', message)
    return false
  }
  if (expiresAtMs <= nowMs) compiler.report(resource, 'Expired', '/spec/expiresAt', 'the key has ended')
  return expiresAtMs > nowMs
}

function hasPlace(
  compiler: Compiler,
  resource: Resource<'ApiKey'>,
  { organization, hash }: ApiKey,
  { counts, made }: KeysBefore,
): boolean {
  if (made.has(hash)) {
    // Whose it is, is nobody's business: it may be of another organisation.
    compiler.report(resource, 'Duplicate', '/spec/keyHash', 'an older ApiKey has the same key')
    return false
  }
  const count = (counts.get(organization) ?? 0) + 1
  if (count > LIMITS.apiKeys) {
    compiler.report(resource, 'TooMany', '', `an organisation may have ${LIMITS.apiKeys} API keys`)
    return false
  }
  counts.set(organization, count)
  return true
}
