/** Starts the SDK on a page and counts the page as soon as that is allowed. */

import * as debug from './debug.ts'
import type { Page, PageOptions, Scope } from './types.ts'
import { resume, watchPage } from './page.ts'
import { createScope } from './scope.ts'
import { viewPage } from './visit.ts'
import type { Whence } from '../whence.d.ts'

export function boot(options: PageOptions): Whence {
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
  if (DEBUG) debug.explainPage(page, consent)
  const { whence } = page.scopeOf()
  watchPage(page, spa !== undefined)
  return whence
}
