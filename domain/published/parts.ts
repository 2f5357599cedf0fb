/**
 * Spreads a catalog over parts by ID, and caches what was made of a part while the part stays the same: a change then
 * costs the work for its own part, and one comparison for each of the others.
 */

import type { SmallSteps } from './steps.ts'
import type { Organization, Website, CatalogOrganizations, CatalogWebsites } from '../catalog.ts'
import { sortedById, type CatalogTexts } from './text.ts'

export interface Part {
  readonly organizations: readonly Organization[]
  readonly websites: readonly Website[]
}

/** What was made of each part last time; empty at first. */
export interface PartMemory<T> {
  readonly texts: CatalogTexts
  parts: readonly { readonly part: Part; readonly made: T }[]
}

/** The results of `make` for the text of each part, by number, one a step. A memory changes only the time it takes. */
export function* ofParts<T>(
  catalog: CatalogOrganizations & CatalogWebsites,
  count: number,
  make: (text: string) => T,
  memory: PartMemory<T>,
): SmallSteps<readonly T[]> {
  const { parts: before } = memory
  const isComparable = before.length === count
  const parts: { readonly part: Part; readonly made: T }[] = []
  for (const [number, part] of spreadByNumber(catalog, count).entries()) {
    const last = isComparable ? before[number] : undefined
    const isSame = last !== undefined && hasSameItems(last.part, part)
    parts.push(isSame ? last : { part, made: make(partText(part, memory.texts)) })
    yield
  }
  memory.parts = parts
  return parts.map(({ made }) => made)
}

function spreadByNumber({ organizations, websites }: CatalogOrganizations & CatalogWebsites, count: number) {
  const parts = Array.from({ length: count }, (): { organizations: Organization[]; websites: Website[] } => ({
    organizations: [],
    websites: [],
  }))
  for (const organization of organizations.values())
    parts[numberOf(organization.id, count)]?.organizations.push(organization)
  for (const website of websites.values()) parts[numberOf(website.id, count)]?.websites.push(website)
  return parts
}

/** Compares by identity: the compiler reuses unchanged organisations and websites. */
function hasSameItems(a: Part, b: Part): boolean {
  return isSameList(a.websites, b.websites) && isSameList(a.organizations, b.organizations)
}

/** Sorted by ID, whatever order they came in. */
export function partText({ organizations, websites }: Part, texts: CatalogTexts): string {
  const organizationTexts = sortedById(organizations).map((each) => texts.organization(each))
  const websiteTexts = sortedById(websites).map((each) => texts.website(each))
  return `{"organizations":[${organizationTexts.join(',')}],"websites":[${websiteTexts.join(',')}]}`
}

/** The approximate length of `partText`, without writing it. */
export function partChars({ organizations, websites }: Part, texts: CatalogTexts): number {
  const ofOrganizations = organizations.reduce((sum, each) => sum + texts.organizationChars(each), 0)
  return websites.reduce((sum, each) => sum + texts.websiteChars(each), ofOrganizations)
}

/** The first 32 bits of FNV-1a. An attacker who chooses IDs that all fall into one part only slows down their own changes. */
function numberOf(id: string, count: number): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < id.length; index += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash % count
}

/** Whether two lists hold the same entries in the same order. */
export function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((entry, index) => entry === b[index])
}
