/** Starts the SDK on a page and counts the page as soon as that is allowed. */

import * as debug from './debug.ts'
import type { Page, PageOptions, Scope } from './types.ts'
import { withoutCarried } from './carried.ts'
import { globalOf } from './global.ts'
import { onPageChange } from './page-change.ts'
import { safely } from './page.ts'
import { askPart, resume } from './parts.ts'
import { EXTRAS_PLACE, RECORDER_PLACE } from './places.ts'
import { createScope } from './scope.ts'
import { viewPage } from './visit.ts'
import type { Whence, WhenceCallback } from '../whence.d.ts'

/**
 * Sets `window.whence` and returns it. If it is there already, the website joins it: a page may contain the script
 * twice, or the scripts of two websites. Throws only if the page has given the name away for good.
 */
export function boot(options: PageOptions): Whence {
  // Until the script has loaded, the interface is a queue. An element of that name is neither.
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
  const earlier = globalOf('whence') as Partial<Whence & WhenceCallback[]> | undefined
  if (earlier?.scope) return earlier.scope(options.project)
  const { consent = 'granted', pageId, manual, spa } = options.tagAttributes
  // An insecure context offers no hashing and no storage for markers.
  const mayCollect = isSecureContext && consent !== 'denied'
  const page: Page = {
    ...options,
    view: viewPage(),
    registeredId: pageId,
    mayCollect,
    // A misspelt word must not count as consent.
    isAllowed: mayCollect && consent === 'granted',
    isAutomatic: manual === undefined,
    extras: { place: EXTRAS_PLACE },
    recorder: { place: RECORDER_PLACE },
    ask: (part, call) => askPart(page, part, call),
    scopes: new Map<string, Scope>(),
    scopeOf: (name = options.project) => {
      let scope = page.scopes.get(name)
      if (!scope) {
        page.scopes.set(name, (scope = createScope(page, name)))
        // In a task of its own, so that adapters that the page has queued are registered first.
        setTimeout(() => resume(page))
      }
      return scope
    },
  }
  if (DEBUG) safely(() => debug.explainPage(page, consent))
  safely(() => {
    const plain = withoutCarried(location.href)
    if (plain === location.href) return
    page.view.isOpen = true
    history.replaceState(history.state, '', plain)
    // Routers put it back.
    void page.ask(page.recorder, (recorder) => recorder)
  })
  const whence = (window.whence = page.scopeOf().whence)
  // Something may have become possible: its route has changed, or it shows a command now.
  safely(() => {
    let { pathname } = location
    // Browsers without the Navigation API get one visit per document: wrapping the page's history is not worth the risk.
    if (spa !== undefined) {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- a check is bytes that every page loads, and other values do no harm
      ;(globalOf('navigation') as EventTarget | undefined)?.addEventListener('currententrychange', () => {
        // Routers also replace an entry by itself, and fragments change.
        if (pathname === location.pathname) return
        pathname = location.pathname
        page.registeredId = undefined
        for (const scope of page.scopes.values()) scope.isDue = page.isAutomatic
        resume(page)
      })
    }
    onPageChange(() => {
      resume(page)
      // The extras watch the page themselves.
      return page.extras.loading
    })
  })
  earlier?.forEach?.((callback) => whence.push(callback))
  return whence
}
