/**
 * Finds the websites that are all that is new in a compilation. Most edits touch what a website says and not what it claims:
 * nothing else of the catalog can then come out otherwise, and need not be looked at.
 */

import type { Catalog, Website } from '../catalog.ts'
import type { Resource, SourceObject } from './objects.ts'
import { readObjects } from './objects.ts'
import { coreOf, finishedWebsite } from './compile-website.ts'
import type { WebsiteCore } from './compiler.ts'
import { LIMITS } from '../limits.ts'
import { isSameList } from './unchanged.ts'

/** More than a person changes at once: looking at everything then costs less than it says. */
const MOST_CHANGES = 256

/**
 * What stands in the place of the websites of the same IDs in `catalog`, which `before` compiled to; null where anything else
 * may have changed, so that all of it must be compiled.
 */
export function revisedWebsites(
  before: readonly SourceObject[],
  objects: readonly SourceObject[],
  catalog: Catalog,
): readonly Website[] | null {
  if (objects.length !== before.length) return null
  const revised: Website[] = []
  for (let index = 0; index < objects.length; index += 1) {
    const [last, next] = [before[index], objects[index]]
    if (last === next) continue
    if (last === undefined || next === undefined || revised.length === MOST_CHANGES) return null
    const website = revisedWebsite(last, next, catalog)
    if (website === null) return null
    revised.push(website)
  }
  return revised
}

function revisedWebsite(last: SourceObject, next: SourceObject, catalog: Catalog): Website | null {
  const was = websiteIn(last)
  const is = websiteIn(next)
  if (was === null || is?.key !== was.key || refersTo(was) !== refersTo(is)) return null
  // What is told of fields that were passed over would be told anew.
  if ((last.unknown ?? next.unknown) !== undefined) return null
  const coreBefore = was.memo as WebsiteCore | null
  const website = inForce(coreBefore, catalog)
  const core = website === null ? null : coreOf(SILENT, is)
  if (coreBefore === null || website === null || core === null || !claimsTheSame(coreBefore, core)) return null
  const { organization, destinations } = website
  return finishedWebsite(core, organization, { registered: core.website, destinations: [...destinations] })
}

/** Null where it may come into force by this change, or where pages of it were left out. */
function inForce(core: WebsiteCore | null, { websites }: Catalog): Website | null {
  const website = core?.finished ?? null
  if (core === null || website === null || websites.get(website.id) !== website) return null
  return website.pages.length < core.website.pages.length ? null : website
}

const SILENT = { report: () => undefined, warn: () => undefined }

function pageChars({ website }: WebsiteCore): number {
  return website.pages.reduce((sum, { id, origin, path }) => sum + id.length + origin.length + path.length, 0)
}

/** Null for any other kind, and for one with a fault. */
function websiteIn(source: SourceObject): Resource<'Website'> | null {
  return readObjects([source], SILENT).resources.Website[0] ?? null
}

/** Whom it belongs to and whom it lets in. */
function refersTo({ spec }: Resource<'Website'>): string {
  return JSON.stringify([spec.organizationRef, spec.allowedNamespaces])
}

/** What can be in another object's way, and which origins get answers. */
function claimsTheSame(a: WebsiteCore, b: WebsiteCore): boolean {
  const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>) => isSameList([...one], [...other])
  const isSameClaim = isSame(a.domains, b.domains) && isSame(a.website.origins, b.website.origins)
  return a.website.id === b.website.id && isSameClaim && pageChars(b) <= LIMITS.pageListChars
}
