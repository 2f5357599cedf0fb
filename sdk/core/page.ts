/** What all scopes of a page share: its options, consent, and the loading of the extras. */

import type { Page, Extras } from './types.ts'
import * as debug from './debug.ts'
import { loadExtras as load } from './load-script.ts'
import { nativeDocument } from './native.ts'

/** Longest wait for the extras; after it, a visit or a copied command goes without them. */
const EXTRAS_MS = 2_000

/** True if the browser requests that its visitor's data is not sold or shared. */
export const hasGpc = () => !!(navigator as Navigator & { globalPrivacyControl?: boolean }).globalPrivacyControl

/** Does what consent and the page's options allow by now; harmless to repeat. Never throws. */
export const resume = (page: Page): void =>
  safely(() => {
    for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
    if (nativeDocument.querySelector(commandsOf(page))) void extrasOf(page)
  })

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

/** What the extras answer. Undefined if they do not load, or cannot answer. Never rejects. */
export async function askExtras<T>(
  page: Page,
  ask: (extras: Extras | null) => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    return await ask(await extrasOf(page))
  } catch (error) {
    if (DEBUG) reportProblem(error)
    return undefined
  }
}

/** The result of the call, or undefined if it throws: pages may have blocked or replaced anything of the browser's. */
export function safely<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch (error) {
    if (DEBUG) reportProblem(error)
    return undefined
  }
}

/** Selects what makes a page need the extras. `:is` ignores errors in the page's own selector. */
export const commandsOf = ({ tagAttributes: { commands = '' } }: Page) =>
  `:is([data-whence-command],[data-whence-copy],${commands})`

/** Problems are for the page's owner, who sees them with `data-debug`; the page itself never sees an error. */
export const reportProblem = (problem: unknown) => {
  try {
    if (DEBUG) debug.explainFailure(problem)
  } catch {
    // What was thrown has no words, or the page has blocked what would say them.
  }
}
