/** Starts the SDK: reads the script tag, puts `window.whence` in place, and counts the page when it may. */

import type { Page } from './page.ts'
import { resume, watchPage } from './page.ts'
import type { Scope } from './scope.ts'
import { createScope } from './scope.ts'
import type { Whence } from './whence.d.ts'

try {
  const script = document.currentScript
  // An element named `currentScript` would shadow the property, and could then name a service of its own.
  const tag =
    script instanceof HTMLScriptElement ? script : document.querySelector<HTMLScriptElement>('script[data-project]')
  if (tag) boot(tag)
} catch {
  // A page is never told.
}

function boot(tag: HTMLScriptElement): void {
  const { project, consent = 'granted', pageId, manual, spa, debug } = tag.dataset
  const earlier = window.whence
  if (!project) return
  // The script stands in the page twice: another website joins the first one's interface, the same one is there already.
  if (earlier && 'scope' in earlier) return void earlier.scope(project)
  // Without a secure context there is nothing to hash with, and no storage for markers.
  const mayCollect = isSecureContext && consent !== 'denied'
  const page: Page = {
    serviceUrl: new URL('.', tag.src).href,
    nonce: tag.nonce,
    registeredId: pageId,
    mayCollect,
    // A misspelt word must not pass for an agreement.
    isAllowed: mayCollect && consent === 'granted',
    isAutomatic: manual === undefined,
    // eslint-disable-next-line no-console -- asked for by the page's owner
    report: debug === undefined ? () => {} : console.debug,
    scopes: new Map<string, Scope>(),
    scopeOf: (name = project) => {
      let scope = page.scopes.get(name)
      if (!scope) {
        page.scopes.set(name, (scope = createScope(page, name)))
        // In a task of its own, so that adapters which the page has queued are registered first.
        setTimeout(() => resume(page))
      }
      return scope
    },
  }
  const { whence } = page.scopeOf()
  window.whence = whence
  watchPage(page, spa !== undefined)
  // Each in a task of its own: one that throws does not keep the others from running.
  earlier?.forEach((callback: (whence: Whence) => void) => queueMicrotask(() => callback(whence)))
}
