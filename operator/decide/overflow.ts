/**
 * Finds what does not fit into the catalog in the cluster, so that every namespace keeps an equal share of the room.
 */

import type { SmallSteps } from '../../domain/published/steps.ts'
import type { Website } from '../../domain/catalog.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import type { CatalogTexts } from '../../domain/published/text.ts'
import type { Compilation } from '../../domain/catalog/compile-catalog.ts'
import type { SpaceClaim } from '../../domain/published/fair-share.ts'
import { withoutRoom } from '../../domain/published/fair-share.ts'
import { LIMITS } from '../../domain/limits.ts'
import { CREDENTIAL_HOLDERS, heldCredentials } from '../../domain/published/holders.ts'
import { credentialBytes } from './credential-parts.ts'

const NO_ROOM = 'and the other namespaces leave no room for this one; the largest shares are cut first'

/** `objectKey` of each, with the reason in words; looks at one website a step. */
export function* overflow(
  compilation: Compilation,
  credentialSlots: number,
  texts: CatalogTexts,
): SmallSteps<ReadonlyMap<string, string>> {
  const websites = [...compilation.catalog.websites.values()]
  const largest = yield* websitesWithoutRoom(websites, texts)
  return new Map([...largest, ...sendersWithoutRoom(compilation, credentialSlots)])
}

function* websitesWithoutRoom(
  websites: readonly Website[],
  texts: CatalogTexts,
): SmallSteps<readonly (readonly [string, string])[]> {
  const claims: SpaceClaim[] = []
  for (const website of websites) {
    const key = objectKey('Website', website.namespace, website.objectName)
    claims.push({ key, owner: website.namespace, bytes: texts.websiteChars(website) })
    yield
  }
  const why = `all websites together may have ${LIMITS.catalogBytes} bytes, ${NO_ROOM}`
  return [...withoutRoom(claims, LIMITS.catalogBytes)].map((key) => [key, why] as const)
}

/** Credentials are split between objects, which may waste nearly one object's room in each Secret. */
function sendersWithoutRoom(
  { catalog, credentials }: Compilation,
  slots: number,
): readonly (readonly [string, string])[] {
  const byHolder = Map.groupBy(heldCredentials(catalog), ({ holder }) => holder)
  return CREDENTIAL_HOLDERS.flatMap((holder) => {
    const claims = (byHolder.get(holder) ?? []).map(({ key, kind, namespace, name }): SpaceClaim => {
      const bytes = credentialBytes(key, credentials.get(key) ?? {})
      return { key: objectKey(kind, namespace, name), owner: namespace, bytes }
    })
    const largest = claims.reduce((most, { bytes }) => Math.max(most, bytes), 0)
    const capacity = slots * Math.max(0, LIMITS.credentialPartBytes - largest)
    const why = `the credentials of ${holder} fill all ${slots} Secrets there may be, ${NO_ROOM}`
    return [...withoutRoom(claims, capacity)].map((key) => [key, why] as const)
  })
}
