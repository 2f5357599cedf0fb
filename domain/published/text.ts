/** The canonical text of an organisation or website: versions hash it, and shards contain it. */

import type { Organization, Website } from '../catalog.ts'

/**
 * Writes texts and caches them by object: successive catalogs hold the same objects, since the compiler reuses unchanged
 * ones, and they never change.
 */
export class CatalogTexts {
  readonly #texts = new WeakMap<Organization | Website, string>()

  /** JSON with the members of every object sorted by name. */
  organization(organization: Organization): string {
    return this.#cached(organization, () => canonicalJson(organization))
  }

  /**
   * The same, with the ID of its organisation instead of the organisation, and sets as sorted lists; origins keep their
   * order.
   */
  website(website: Website): string {
    return this.#cached(website, () => {
      const { organization, origins, providers, ...plain } = website
      return canonicalJson({
        ...plain,
        organization: organization.id,
        origins: [...origins],
        providers: [...providers].sort(),
      })
    })
  }

  #cached(object: Organization | Website, write: () => string): string {
    const known = this.#texts.get(object)
    if (known !== undefined) return known
    const text = write()
    this.#texts.set(object, text)
    return text
  }
}

/** In the order of their IDs. */
export function sortedById<T extends { readonly id: string }>(items: Iterable<T>): readonly T[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
