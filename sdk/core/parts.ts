/** Loads the other parts of the SDK, once per document, when something on the page needs them. */

import type { LoadedPart, Page, PartOfSdk } from './types.ts'
import { loadPart } from './load-script.ts'
import { findInPage } from './document-value.ts'
import { commandsOf, reportProblem, safely } from './page.ts'

/** Longest wait for a part; after it, a visit or a copied command goes without it. */
const PART_MS = 2_000

/** As `Page.ask`. */
export const askPart = async <P extends LoadedPart, T>(
  page: Page,
  part: PartOfSdk<P>,
  call: (loaded: P) => T | Promise<T>,
): Promise<T | undefined> => {
  try {
    part.loading ??= new Promise((resolve) => {
      setTimeout(resolve, PART_MS)
      loadPart(page, part.place, (loaded) => {
        // If it arrives late, it still serves later calls.
        part.loaded = loaded
        resolve()
        loaded.attend?.(page)
      }).catch(reportProblem)
    })
    await part.loading
    return part.loaded && (await call(part.loaded))
  } catch (error) {
    if (DEBUG) reportProblem(error)
    return undefined
  }
}

/** Does what consent and the page's options allow by now; harmless to repeat. Never throws. */
export const resume = (page: Page): void =>
  safely(() => {
    for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
    // They also load without consent, for copy buttons; what they send and fill depends on consent.
    if (findInPage(commandsOf(page))) void page.ask(page.extras, (extras) => extras)
  })
