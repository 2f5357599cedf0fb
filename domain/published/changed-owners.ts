/** Compares whose websites stored facts are with whose they are now: an ID that has another owner starts without data. */

import { ownedWebsite, type Website } from '../catalog.ts'
import type { OwnedWebsite } from '../model.ts'

interface ChangedOwner {
  readonly website: string
  /** The organisation that it belongs to now. */
  readonly now: string
  /** Those whose facts are stored, in order. */
  readonly stored: readonly string[]
}

/** Websites with facts of others and none of their present owner. */
export function changedOwners(websites: Iterable<Website>, stored: readonly OwnedWebsite[]): readonly ChangedOwner[] {
  const ownersById = Map.groupBy(stored, ({ website }) => website)
  return [...websites].flatMap((each) => {
    const { organization: now, website } = ownedWebsite(each)
    const owners = [...new Set((ownersById.get(website) ?? []).map(({ organization }) => organization))]
    return owners.length === 0 || owners.includes(now) ? [] : [{ website, now, stored: owners.toSorted() }]
  })
}
