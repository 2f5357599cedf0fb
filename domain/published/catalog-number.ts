/**
 * Numbers of catalogs. What is put into force gets one, and it only grows; work carries the number of the catalog that planned it. So a role
 * can tell an object that is gone from one that its own, older copy does not have yet.
 */

import type { Catalog, NumberedCatalog } from '../catalog.ts'

/** The number of the next catalog: about the Unix time in ms, and never one that was given before. */
export function nextCatalogNumber(last: number, nowMs: number): number {
  return Math.max(last + 1, Math.floor(nowMs))
}

/** The same catalog under another number. */
export function withNumber(catalog: Catalog, number: number): Catalog {
  return catalog.number === number ? catalog : Object.freeze({ ...catalog, number })
}

/** The copy of the catalog that a role works with. */
export interface CatalogInHand<C extends NumberedCatalog = Catalog> {
  readonly current: () => C
  /**
   * The copy holds everything up to this number, which may be higher than that of its catalog: of a folder, the time of the last look that
   * found nothing new. Absent: the number of its catalog.
   */
  readonly asOf?: () => number
}

/**
 * Whether this copy is older than the catalog that planned something: then what is not in it may be there, and nothing may end
 * because of that. `plannedBy` is absent if no catalog planned it.
 */
export function isCopyBehind({ current, asOf }: CatalogInHand<NumberedCatalog>, plannedBy = 0): boolean {
  return plannedBy > Math.max(current().number, asOf?.() ?? 0)
}
