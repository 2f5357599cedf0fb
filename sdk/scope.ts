/** Counts a page for one website: once per document and path, with marker and activation where the browser keeps markers. */

import type { BrowserConfig } from './identities.ts'
import { openMarkerFile, removeMarkers } from './marker.ts'
import type { Answer } from './net.ts'
import { request } from './net.ts'
import type { Page } from './page.ts'
import type { VisitBody } from './visit.ts'
import { composeVisit, forgetLanding, urlIdOf, waitForTags } from './visit.ts'
import type { CustomFields } from './whence.d.ts'

/** One website on this page. The extras work through it, too. */
export interface Scope {
  readonly project: string
  readonly adapters: Map<string, () => CustomFields | Promise<CustomFields>>
  /** Counts the path unless it is counted already; resolves when that is done or given up. Never rejects. */
  readonly start: () => Promise<void>
  /** Resolves when no visit is under way; a visit that waits for tags stops waiting. */
  readonly settle: () => Promise<void>
  /** The receipt of the current visit. That of a handoff-only visit is put here by the extras and lives nowhere else. */
  receipt: string | null
  readonly post: (path: string, body: object) => Promise<Answer>
  /** The body of a visit that exists only for a handoff. Rejects where the service does not know the website or is away. */
  readonly compose: () => Promise<VisitBody>
  /** Removes what was stored in this browser. */
  readonly forget: () => Promise<void>
}

/** Counting starts with the first call of `start`. */
export function createScope(page: Page, project: string): Scope {
  const firstPath = location.pathname
  const counted = new Set<string>()
  const adapters: Scope['adapters'] = new Map()
  let running = Promise.resolve()
  let isUrgent = false
  addEventListener('visibilitychange', () => (isUrgent = document.hidden))

  const bodyOf = async (pageUrl: string, urlId: string) => {
    const { data } = await request(`${page.base}/v1/projects/${project}/browser-config`)
    const config = data as unknown as BrowserConfig
    await waitForTags(config, () => isUrgent)
    return composeVisit(page, { project, urlId, pageUrl, config, adapters })
  }
  const here = async (): Promise<[string, string]> => {
    const path = location.pathname
    const pageUrl = location.origin + path
    return [pageUrl, (path === firstPath && page.pageId) || (await urlIdOf(pageUrl))]
  }

  const visit = async () => {
    // A prerendered page counts when it is shown, and never where it is not.
    if ((document as Document & { prerendering?: boolean }).prerendering) {
      await new Promise((resolve) => document.addEventListener('prerenderingchange', resolve))
    }
    const [pageUrl, urlId] = await here()
    const file = await openMarkerFile(project, urlId)
    const body = await bodyOf(pageUrl, urlId)
    if (!page.isAllowed) return
    const { data } = await scope.post('/v1/visits', { ...body, previous_receipt: file.previousReceipt })
    const marker = data['marker'] as { readonly receipt: string }
    page.log('visit', marker)
    if (!page.isAllowed) return
    const { receipt } = marker
    scope.receipt = receipt
    await file.write(marker)
    await scope.post('/v1/visits/activate', { project, receipt })
  }

  const scope: Scope = {
    project,
    adapters,
    receipt: null,
    post: (path, body) => request(page.base + path, body),
    start: () => {
      if (page.isAllowed && !counted.has(location.pathname)) {
        counted.add(location.pathname)
        running = running.then(visit).catch(page.log)
      }
      return running
    },
    settle: () => {
      isUrgent = true
      return running
    },
    compose: async () => bodyOf(...(await here())),
    forget: () => {
      counted.clear()
      scope.receipt = null
      forgetLanding(project)
      return removeMarkers()
    },
  }
  return scope
}
