/** What all scopes of a page share: its options, consent, and the way to the extras. */

import type { Page } from './types.ts'
import * as debug from './debug.ts'
import type { Extras } from './types.ts'
import { loadExtras as load } from './load-script.ts'

/** Longest wait for the extras: a visit, or a command to be copied, then does without them. */
const EXTRAS_MS = 2_000

/** True where the browser asks for its visitor not to be sold or shared. */
export const hasGpc = () => !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl

/** Does what consent and the page's wishes allow by now; harmless to repeat. */
export function resume(page: Page): void {
  for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
  if (document.querySelector(commandsOf(page))) void loadExtras(page)
}

/** Calls back when something may have become possible: the document is read, its route has changed, a command is near. */
export function watchPage(page: Page, hasRoutes: boolean): void {
  addEventListener('DOMContentLoaded', () => resume(page))
  // Commands that the page adds later are noticed when the visitor comes near one.
  addEventListener('pointerover', ({ target }) => {
    if ((target as Element).closest?.(commandsOf(page))) void loadExtras(page)
  })
  const { navigation } = window as Window & { navigation?: EventTarget }
  // Browsers without the Navigation API keep to one visit per document: wrapping the page's history is not worth the risk.
  if (hasRoutes) {
    navigation?.addEventListener('currententrychange', () => {
      page.registeredId = undefined
      for (const scope of page.scopes.values()) scope.isDue = page.isAutomatic
      resume(page)
    })
  }
}

/**
 * Asks for the extras once per document. Null if they are blocked, away, or were altered on their way. They come without consent
 * as well, for copy buttons; what they send and fill depends on it.
 */
export function loadExtras(page: Page): Promise<Extras | null> {
  return (page.loading ??= new Promise<Extras | null>((resolve) => {
    setTimeout(() => resolve(null), EXTRAS_MS)
    load(page, (extras) => {
      // Late ones still serve what comes after them.
      page.loading = Promise.resolve((page.extras = extras))
      resolve(extras)
      extras.attend(page)
    }).catch(report)
  }))
}

/** Selects what makes a page need the extras. `:is` forgives what the page's own selector has got wrong. */
const commandsOf = ({ wishes: { commands = '' } }: Page) => `:is([data-whence-command],[data-whence-copy],${commands})`

/** Problems are for the page's owner, who asks for them with `data-debug`; a page is never told. */
export const report = (problem: unknown) => {
  if (DEBUG) debug.explainFailure(problem)
}
