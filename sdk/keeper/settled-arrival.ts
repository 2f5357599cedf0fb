/** Decides again how a visitor arrived, now that the origins of the website are known. */

import type { OriginMemory, PageArrival } from '../core/landing.ts'
import { CARRIED_LIFETIME_MS, SOURCE_LIFETIME_MS } from '../core/limits.ts'
import type { PageView } from '../core/source.ts'
import { arrivalOf, sourceIn } from '../core/source.ts'
import { decodeCarried } from './carried-form.ts'
import type { SiteOrigins } from './placing.ts'
import { carriedIn } from './placing.ts'

export interface KnownArrival {
  readonly view: PageView
  readonly gpc: boolean
  /** What the origin remembers, as JSON; empty if nothing. */
  readonly recalled: string
  /** The shared cookie; empty if there is none. */
  readonly shared: string
}

/**
 * How the visitor arrived, and whether that differs from what the page's first moment could know. A link counts only if the referrer
 * is empty or an origin of the website. Undefined if all stays as it is.
 */
export function settledArrival(
  { view, gpc, recalled, shared }: KnownArrival,
  site: SiteOrigins,
): PageArrival | undefined {
  const { referrer, nowMs } = view
  const { isInside, isNoSource } = judged(referrer, site)
  const remembered = rememberedIn(recalled)
  const told = site.crossOrigin === 'Carry' ? toldLanding({ view, shared, isInside }) : undefined
  // The first moment has kept what it could decide. It took a referrer for a source that is none.
  const isMistaken = referrer !== '' && isNoSource && remembered?.seen_at !== nowMs
  if (!told && !isMistaken) return undefined
  const before = told ? withRemembered(told, remembered) : remembered
  return arrivalOf({ ...view, referrer: isNoSource ? '' : referrer }, gpc, JSON.stringify(before ?? null))
}

/** Whether a referrer is the website itself or absent, and whether it is no source for that or another reason. */
function judged(referrer: string, { origins, ignoredReferrers }: SiteOrigins) {
  if (!referrer) return { isInside: true, isNoSource: true }
  const { origin, hostname } = new URL(referrer)
  const isInside = origins.includes(origin)
  return { isInside, isNoSource: isInside || ignoredReferrers.includes(hostname) }
}

interface ToldBy {
  readonly view: PageView
  readonly shared: string
  readonly isInside: boolean
}

function toldLanding({ view: { url, nowMs }, shared, isInside }: ToldBy): OriginMemory | undefined {
  const carried = isInside ? carriedIn(url) : undefined
  const told = carried && decodeCarried(carried, nowMs, CARRIED_LIFETIME_MS)
  return told || decodeCarried(shared, nowMs, SOURCE_LIFETIME_MS)
}

/** The sitting goes on. The landing is the one that was told, unless it names no source, or is the one that is remembered here, in full. */
function withRemembered(told: OriginMemory, remembered: OriginMemory | undefined): OriginMemory {
  const isKept = remembered && (remembered.landed_at === told.landed_at || (!sourceIn(told) && sourceIn(remembered)))
  const { sitting, seen_at } = told
  return isKept ? { ...remembered, sitting, seen_at } : told
}

function rememberedIn(recalled: string): OriginMemory | undefined {
  try {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the SDK wrote it; what is missing in it throws where it is read
    return (JSON.parse(recalled) as OriginMemory | null) ?? undefined
  } catch {
    return undefined
  }
}
