/** Begins a visit: what the page and the origin's memory say of it. */

import type { VisitBody, Page } from './types.ts'
import { browserSha256 } from './digest.ts'
import { documentValue } from './document-value.ts'
import { hasGpc } from './page.ts'
import type { PageArrival } from './landing.ts'
import type { PageView } from './source.ts'
import { arrivalOf, isReferred, isOwnPage, originAndPath } from './source.ts'

/** The page as it is now: a single-page application may show another address by the time the service has answered. */
export const viewPage = (): PageView => ({ url: location.href, referrer: documentValue('referrer'), nowMs: Date.now() })

/** A later route of the document: it has no source of its own. */
export const viewRoute = (): PageView => ({
  url: originAndPath(location.href) ?? '',
  referrer: location.href,
  nowMs: Date.now(),
})

/** The part of a visit's body that needs no request. What the page shows is read at once. */
export async function beginVisit(page: Page, project: string, arrival: PageArrival): Promise<VisitBody> {
  const { clicks: _, seen_at: __, sitting, entry, ...source } = arrival
  const page_url = originAndPath(location.href)
  const referrer = originAndPath(documentValue('referrer'))
  const registeredId = page_url === originAndPath(page.view.url) && page.tagAttributes.pageId
  const url_id = registeredId || (await urlIdOf(page_url))
  return { project, url_id, page_url, referrer, source, sitting, entry, gpc: hasGpc() }
}

/** The page's default ID: the beginning of the digest of origin and path. */
const urlIdOf = async (pageUrl: string | undefined): Promise<string> => {
  const digest = await browserSha256(new TextEncoder().encode(pageUrl))
  return `url_${new DataView(digest).getBigUint64(0).toString(16).padStart(16, '0')}`
}

/**
 * How the page view relates to what the origin remembers, which is kept before anything else: the visitor may leave at once.
 * `key` is that of local storage; `before` is what this document knows if storage is blocked: such a browser names no sitting.
 */
export function arrive(view: PageView, key: string, before: PageArrival | undefined): PageArrival {
  const gpc = hasGpc()
  try {
    const recalled = localStorage.getItem(key) ?? ''
    const arrival = arrivalOf(view, gpc, recalled)
    // A referrer alone replaces what is remembered only once the recorder knows that it is a source.
    if (recalled && isReferred(arrival)) view.isOpen = true
    else localStorage.setItem(key, JSON.stringify(arrival))
    return arrival
  } catch {
    return {
      ...arrivalOf(view, gpc, JSON.stringify(before)),
      sitting: undefined,
      entry: isOwnPage(view.referrer, view.url) ? false : undefined,
    }
  }
}
