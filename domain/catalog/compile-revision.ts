/**
 * Detects that a compilation changes nothing but the content of some websites. Most edits leave a website's claims
 * (IDs, origins, references) alone; the rest of the catalog then stays as it was and is not recompiled.
 */

import { atOnce, type SmallSteps } from '../published/steps.ts'
import type { Catalog, Website } from '../catalog.ts'
import type { Resource, SourceObject } from './objects.ts'
import { readObjects } from './objects.ts'
import { websiteCore, finishedWebsite } from './compile-website.ts'
import type { WebsiteCore } from './compiler.ts'
import { LIMITS } from '../limits.ts'
import { isSameList } from '../published/parts.ts'

/** More than a person changes at once; beyond it a full compilation is cheaper. */
const MOST_CHANGES = 256

/**
 * Replacements for the websites with the same IDs in `catalog`, the result for `before`; null if anything else may have
 * changed, so that everything must be compiled.
 */
export function* revisedWebsites(
  before: readonly SourceObject[],
  objects: readonly SourceObject[],
  catalog: Catalog,
): SmallSteps<readonly Website[] | null> {
  if (objects.length !== before.length) return null
  const revised: Website[] = []
  for (let index = 0; index < objects.length; index += 1) {
    const last = before[index]
    const next = objects[index]
    if (last === next) continue
    if (last === undefined || next === undefined || revised.length === MOST_CHANGES) return null
    const website = revisedWebsite(last, next, catalog)
    if (website === null) return null
    revised.push(website)
    yield
  }
  return revised
}

function revisedWebsite(last: SourceObject, next: SourceObject, catalog: Catalog): Website | null {
  const was = websiteIn(last)
  const is = websiteIn(next)
  if (was === null || is?.key !== was.key || referencesText(was) !== referencesText(is)) return null
  // Warnings about ignored fields would have to be reported again.
  if ((last.unknown ?? next.unknown) !== undefined) return null
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- what this step has noted
  const coreBefore = was.memo as WebsiteCore | null
  const website = inForce(coreBefore, catalog)
  const core = website === null ? null : websiteCore(SILENT, is)
  if (coreBefore === null || website === null || core === null || !claimsTheSame(coreBefore, core)) return null
  const { organization, destinations } = website
  return finishedWebsite(core, organization, { registered: core.website, destinations: [...destinations] })
}

/** Null if this change may put it into force, or if pages of it were left out. */
function inForce(core: WebsiteCore | null, { websites }: Catalog): Website | null {
  const website = core?.finished ?? null
  if (core === null || website === null || websites.get(website.id) !== website) return null
  return website.pages.length < core.website.pages.length ? null : website
}

const SILENT = { report: () => undefined, warn: () => undefined }

function pageChars({ website }: WebsiteCore): number {
  return website.pages.reduce((sum, { id, origin, path }) => sum + id.length + origin.length + path.length, 0)
}

/** Null for any other kind, and for a website with a problem. */
function websiteIn(source: SourceObject): Resource<'Website'> | null {
  return atOnce(readObjects([source], SILENT)).resources.Website[0] ?? null
}

/** Its organisation and the namespaces it admits. */
function referencesText({ spec }: Resource<'Website'>): string {
  return JSON.stringify([spec.organizationRef, spec.allowedNamespaces, spec.tenant])
}

/** Everything that can conflict with other objects, and the origins that are answered. */
function claimsTheSame(a: WebsiteCore, b: WebsiteCore): boolean {
  const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>) => isSameList([...one], [...other])
  const isSameClaim = isSame(a.domains, b.domains) && isSame(a.website.origins, b.website.origins)
  return a.website.id === b.website.id && isSameClaim && pageChars(b) <= LIMITS.pageListChars
}
