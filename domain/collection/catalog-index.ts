/** Indexes over a catalog for requests. Each is built once per catalog, so that no request scans all websites. */

import { ownedWebsite, type Website, type CatalogWebsites } from '../catalog.ts'
import type { OwnedWebsite } from '../model.ts'

type Websites = CatalogWebsites

/** An organisation's websites, by the organisation's ID. */
export const websitesByOrganization = perCatalog(({ websites }): ReadonlyMap<string, readonly OwnedWebsite[]> => {
  const index = new Map<string, OwnedWebsite[]>()
  for (const website of websites.values()) {
    const owned = ownedWebsite(website)
    const siblings = index.get(owned.organization)
    if (siblings === undefined) index.set(owned.organization, [owned])
    else siblings.push(owned)
  }
  return index
})

/** The website that registered an origin; null if several did. */
export const websiteByOrigin = perCatalog(({ websites }): ReadonlyMap<string, Website | null> => {
  const index = new Map<string, Website | null>()
  for (const website of websites.values()) {
    for (const origin of website.origins) index.set(origin, index.has(origin) ? null : website)
  }
  return index
})

/** `live` if any destination is `Live`, otherwise `validate`; `none` without destinations. */
type DeliveryMode = 'live' | 'validate' | 'none'

/** Of all destinations, and of the GA4 ones among them. */
export const deliveryModes = perCatalog(({ websites }): { readonly all: DeliveryMode; readonly ga4: DeliveryMode } => {
  let all: DeliveryMode = 'none'
  let ga4: DeliveryMode = 'none'
  for (const { destinations } of websites.values()) {
    for (const { mode, provider } of destinations) {
      all = modeWith(all, mode)
      if (provider === 'ga4') ga4 = modeWith(ga4, mode)
    }
  }
  return { all, ga4 }
})

function modeWith(mode: DeliveryMode, destination: string): DeliveryMode {
  return mode === 'live' || destination === 'Live' ? 'live' : 'validate'
}

/** `make`, called once per catalog. Catalogs are immutable, so the result stays right. */
function perCatalog<T extends object>(make: (catalog: Websites) => T): (catalog: Websites) => T {
  const made = new WeakMap<Websites, T>()
  return (catalog) => {
    const known = made.get(catalog)
    if (known !== undefined) return known
    const index = make(catalog)
    made.set(catalog, index)
    return index
  }
}
