/** The other websites that could have signed a receipt or token: those of the same organisation, and of the others. */

import { ownedWebsite, type Catalog, type Website } from '../../domain/catalog.ts'
import { websitesByOrganization } from '../../domain/collection/catalog-index.ts'
import { PLAN_LIMITS } from '../../domain/limits.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import { couldBeReceipt, sealedPart, type readReceipt } from '../../domain/receipt.ts'
import type { CatalogInForce, KeysInForce } from '../deps.ts'

/** Most extra MACs of a request, besides one for each of its receipts: all websites of the largest plan, once. */
const MISSES_MAX = PLAN_LIMITS.Enterprise.websites

/** All websites of its organisation, including itself. */
export function siblingsOf({ organization }: Website, catalog: Catalog): readonly OwnedWebsite[] {
  return websitesByOrganization(catalog).get(organization.id) ?? []
}

/**
 * Checks whether another website signed a receipt or token, which only `explain` shows: one of the same organisation, or else of any. All
 * checks of a request share a bounded number of misses, so that made-up receipts cost the same whatever the catalog's size; once
 * they are used up, the answer is no. The website that signed the last one is tried first.
 */
export function otherWebsiteTest(
  website: Website,
  { keys, catalog }: CatalogInForce & KeysInForce,
  nowMs: number,
): (text: string, read: typeof readReceipt) => boolean {
  let last: OwnedWebsite | null = null
  let missesLeft = MISSES_MAX
  return (text, read) => {
    if (!couldBeReceipt(keys, sealedPart(text), nowMs)) return false
    for (const other of othersThan(website, catalog(), last)) {
      if (missesLeft === 0) return false
      if (read(keys, other, text) !== null) {
        last = other
        return true
      }
      missesLeft--
    }
    return false
  }
}

/** Each other website once, but the first, which may come again. Taken one by one: an installation may have thousands. */
function* othersThan(website: Website, catalog: Catalog, first: OwnedWebsite | null): Generator<OwnedWebsite> {
  if (first !== null) yield first
  for (const sibling of siblingsOf(website, catalog)) if (sibling.website !== website.id) yield sibling
  for (const other of catalog.websites.values())
    if (other.organization.id !== website.organization.id) yield ownedWebsite(other)
}
