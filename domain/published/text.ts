/** The canonical text of an organisation or website: versions hash it, and shards contain it. */

import type { Organization, Website } from '../catalog.ts'

/** Longer texts are written again each time: cached, they would need as much memory as the objects themselves. */
const KEPT_CHARS = 4_096

/**
 * Writes texts and caches them by object: successive catalogs hold the same objects, since the compiler reuses unchanged
 * ones, and objects never change. For long texts only the length is cached.
 */
export class CatalogTexts {
  readonly #texts = new WeakMap<Organization | Website, string | number>()

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

  organizationChars(organization: Organization): number {
    return this.#knownChars(organization) ?? this.organization(organization).length
  }

  websiteChars(website: Website): number {
    return this.#knownChars(website) ?? this.website(website).length
  }

  #knownChars(object: Organization | Website): number | undefined {
    const known = this.#texts.get(object)
    return typeof known === 'string' ? known.length : known
  }

  #cached(object: Organization | Website, write: () => string): string {
    const known = this.#texts.get(object)
    if (typeof known === 'string') return known
    const text = write()
    this.#texts.set(object, text.length > KEPT_CHARS ? text.length : text)
    return text
  }
}

/** Sorted by ID. */
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
