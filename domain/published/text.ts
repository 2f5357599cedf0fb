/** The canonical text of an organisation or website: versions hash it, and shards contain it. */

import type { Organization, Website } from '../catalog.ts'

/** Successive catalogs hold the same objects, since the compiler reuses unchanged ones; they never change. */
const TEXTS = new WeakMap<Organization | Website, string>()

/** JSON with the members of every object sorted by name. */
export function organizationText(organization: Organization): string {
  return remembered(organization, () => canonicalJson(organization))
}

/**
 * The same, with the ID of its organisation instead of the organisation, and sets as sorted lists; origins keep their
 * order.
 */
export function websiteText(website: Website): string {
  return remembered(website, () => {
    const { organization, origins, providers, ...plain } = website
    return canonicalJson({
      ...plain,
      organization: organization.id,
      origins: [...origins],
      providers: [...providers].sort(),
    })
  })
}

/** In the order of their IDs. */
export function sortedById<T extends { readonly id: string }>(items: Iterable<T>): readonly T[] {
  return [...items].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function remembered<T extends Organization | Website>(object: T, write: () => string): string {
  const known = TEXTS.get(object)
  if (known !== undefined) return known
  const text = write()
  TEXTS.set(object, text)
  return text
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
