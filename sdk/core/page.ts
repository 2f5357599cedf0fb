/** What all scopes of a page share: its options, consent, and the loading of the extras. */

import type { Page, Extras } from './types.ts'
import * as debug from './debug.ts'
import { loadExtras as load } from './load-script.ts'

/** Longest wait for the extras; after it, a visit or a copied command goes without them. */
const EXTRAS_MS = 2_000

/** True if the browser requests that its visitor's data is not sold or shared. */
export const hasGpc = () => !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl

/** Does what consent and the page's options allow by now; harmless to repeat. */
export function resume(page: Page): void {
  for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
  if (document.querySelector(commandsOf(page))) void extrasOf(page)
}

/**
 * Calls back when something may have become possible: the document is parsed, its route has changed, or the pointer is
 * near a command.
 */
export function watchPage(page: Page, hasRoutes: boolean): void {
  addEventListener('DOMContentLoaded', () => resume(page))
  // Commands that the page adds later are noticed when the pointer comes near one.
  addEventListener('pointerover', ({ target }) => {
    if ((target as Element).closest?.(commandsOf(page))) void extrasOf(page)
  })
  const { navigation } = window as Window & { navigation?: EventTarget }
  // Browsers without the Navigation API get one visit per document: wrapping the page's history is not worth the risk.
  if (hasRoutes) {
    navigation?.addEventListener('currententrychange', () => {
      page.registeredId = undefined
      for (const scope of page.scopes.values()) scope.isDue = page.isAutomatic
      resume(page)
    })
  }
}

/**
 * Loads the extras once per document. Null if they are blocked, unreachable, or were altered on the way. They also load
 * without consent, for copy buttons; what they send and fill depends on consent.
 */
export function extrasOf(page: Page): Promise<Extras | null> {
  return (page.loading ??= new Promise<Extras | null>((resolve) => {
    setTimeout(() => resolve(null), EXTRAS_MS)
    load(page, (extras) => {
      // If they arrive late, they still serve later calls.
      page.loading = Promise.resolve((page.extras = extras))
      resolve(extras)
      extras.attend(page)
    }).catch(reportProblem)
  }))
}

/** Selects what makes a page need the extras. `:is` ignores errors in the page's own selector. */
const commandsOf = ({ tagAttributes: { commands = '' } }: Page) =>
  `:is([data-whence-command],[data-whence-copy],${commands})`

/** Problems are for the page's owner, who sees them with `data-debug`; the page itself never sees an error. */
export const reportProblem = (problem: unknown) => {
  if (DEBUG) debug.explainFailure(problem)
}
