/**
 * Finds what does not fit into the catalog in the cluster, so that every namespace keeps an equal share of the room.
 */

import type { Website } from '../../domain/catalog.ts'
import { destinationKey } from '../../domain/catalog.ts'
import { objectKey } from '../../domain/catalog/objects.ts'
import type { CatalogTexts } from '../../domain/published/text.ts'
import type { Compilation } from '../../domain/catalog/compile-catalog.ts'
import type { SpaceClaim } from '../../domain/published/fair-share.ts'
import { withoutRoom } from '../../domain/published/fair-share.ts'
import { LIMITS } from '../../domain/limits.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'
import { credentialBytes } from './credential-parts.ts'

const NO_ROOM = 'and the other namespaces leave no room for this one; the largest shares are cut first'

/** `objectKey` of each, with the reason in words. */
export function overflow(
  compilation: Compilation,
  credentialSlots: number,
  texts: CatalogTexts,
): ReadonlyMap<string, string> {
  const websites = [...compilation.catalog.websites.values()]
  return new Map([
    ...websitesWithoutRoom(websites, texts),
    ...destinationsWithoutRoom(compilation, websites, credentialSlots),
  ])
}

function websitesWithoutRoom(
  websites: readonly Website[],
  texts: CatalogTexts,
): readonly (readonly [string, string])[] {
  const claims = websites.map((website): SpaceClaim => {
    const key = objectKey('Website', website.namespace, website.objectName)
    return { key, owner: website.namespace, bytes: texts.websiteChars(website) }
  })
  const why = `all websites together may have ${LIMITS.catalogBytes} bytes, ${NO_ROOM}`
  return [...withoutRoom(claims, LIMITS.catalogBytes)].map((key) => [key, why] as const)
}

/** Credentials are split between destinations, which may waste nearly one destination's room in each Secret. */
function destinationsWithoutRoom(
  { credentials }: Compilation,
  websites: readonly Website[],
  slots: number,
): readonly (readonly [string, string])[] {
  return PROVIDER_IDS.flatMap((provider) => {
    const claims = websites.flatMap((website) =>
      website.destinations
        .filter((destination) => destination.provider === provider)
        .map(({ id, namespace }): SpaceClaim => {
          const key = destinationKey(website.id, id)
          const bytes = credentialBytes(key, credentials.get(key) ?? {})
          return { key: objectKey('Destination', namespace, id), owner: namespace, bytes }
        }),
    )
    const largest = claims.reduce((most, { bytes }) => Math.max(most, bytes), 0)
    const capacity = slots * Math.max(0, LIMITS.credentialPartBytes - largest)
    const why = `the credentials of ${provider} fill all ${slots} Secrets there may be, ${NO_ROOM}`
    return [...withoutRoom(claims, capacity)].map((key) => [key, why] as const)
  })
}
