/** The one text of an organisation or website: what versions are digests of, and what shards carry. */

import type { Organization, Website } from '../catalog.ts'

/** Catalog after catalog holds the same objects, since the compiler gives unchanged ones back; they are never changed. */
const TEXTS = new WeakMap<Organization | Website, string>()

/** JSON with the members of every object in the order of their names. */
export function organizationText(organization: Organization): string {
  return remembered(organization, () => canonicalJson(organization))
}

/** The same, with the ID of its organisation in its place, and sets as sorted lists; origins keep their order. */
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
