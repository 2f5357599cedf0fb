/** Checks one ApiKey: its end, its place among those of its organisation, and that no older one has the same key. */

import { LIMITS } from '../limits.ts'
import { apiKeyFrom, type ApiKey } from '../people/api-key.ts'
import { mayOpen, type PassesBefore } from './compile-pass.ts'
import { organizationOf } from './compile-references.ts'
import { displayNameOf, type Compiler } from './compiler.ts'
import type { Resource } from './objects.ts'

interface KeysBefore extends PassesBefore<ApiKey> {
  /** Keys so far, by organisation. */
  readonly counts: Map<string, number>
}

/** The keys that open something, by their hash, the oldest first. Only the dashboard reads this; it is not part of the catalog. */
export function compileApiKeys(compiler: Compiler, nowMs: number): ReadonlyMap<string, ApiKey> {
  const made = new Map<string, ApiKey>()
  const around: KeysBefore = { nowMs, made, counts: new Map() }
  for (const resource of compiler.objects.resources.ApiKey) {
    const key = compileApiKey(compiler, resource, around)
    if (key !== null) made.set(key.hash, key)
  }
  return made
}

function compileApiKey(compiler: Compiler, resource: Resource<'ApiKey'>, around: KeysBefore): ApiKey | null {
  const organization = organizationOf(compiler, resource)
  if (organization === null || displayNameOf(compiler, resource) === null) return null
  const key = apiKeyFrom(resource, organization.id)
  return mayOpen(compiler, resource, key, around) && hasPlace(compiler, resource, key, around) ? key : null
}

function hasPlace(
  compiler: Compiler,
  resource: Resource<'ApiKey'>,
  { organization }: ApiKey,
  { counts }: KeysBefore,
): boolean {
  const count = (counts.get(organization) ?? 0) + 1
  if (count > LIMITS.apiKeys) {
    compiler.report(resource, 'TooMany', '', `an organisation may have ${LIMITS.apiKeys} API keys`)
    return false
  }
  counts.set(organization, count)
  return true
}
