/** Writes down the credentials of each provider's destinations, as its Secret carries them. */

import { destinationKey } from '../domain/catalog.ts'
import type { Compilation } from '../domain/compile-catalog.ts'
import type { ProviderId } from '../domain/model.ts'
import { PROVIDER_IDS } from '../domain/model.ts'
import { isSameList } from '../domain/unchanged.ts'

/** Of each provider the text, and keys and values by turns that it was made of. */
export type CredentialMemory = Map<ProviderId, { readonly from: readonly unknown[]; readonly text: string }>

/** Members in a fixed order: equal credentials make an equal text. */
export function credentialTexts(
  { catalog, credentials }: Compilation,
  memory: CredentialMemory,
): ReadonlyMap<ProviderId, string> {
  const from = new Map<ProviderId, unknown[]>(PROVIDER_IDS.map((provider) => [provider, []]))
  for (const website of catalog.websites.values()) {
    for (const destination of website.destinations) {
      const key = destinationKey(website.id, destination.id)
      from.get(destination.provider)?.push(key, credentials.get(key) ?? {})
    }
  }
  return new Map([...from].map(([provider, list]) => [provider, textOf(provider, list, memory)]))
}

function textOf(provider: ProviderId, from: readonly unknown[], memory: CredentialMemory): string {
  const last = memory.get(provider)
  if (last !== undefined && isSameList(last.from, from)) return last.text
  const pairs = from.flatMap((key, index) => (index % 2 === 0 ? [[String(key), from[index + 1]] as const] : []))
  pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify({ credentials: Object.fromEntries(pairs) })
  memory.set(provider, { from, text })
  return text
}
