/** Loads the other parts of the SDK, once per document, when something on the page needs them. */

import type { Extras, LoadedPart, Page, Part, Readers } from './types.ts'
import { loadExtras, loadReaders } from './load-script.ts'
import { nativeDocument } from './native.ts'
import { commandsOf, reportProblem, safely } from './page.ts'

/** Longest wait for a part; after it, a visit or a copied command goes without it. */
const PART_MS = 2_000

const EXTRAS: Part<Extras> = { load: loadExtras }
const READERS: Part<Readers> = { load: loadReaders }

/**
 * What a part answers; it is loaded once per document. Undefined if it is blocked, unreachable, was altered on the way, or cannot
 * answer. Never rejects.
 */
async function ask<P extends LoadedPart, T>(
  part: Part<P>,
  page: Page,
  call: (loaded: P) => T,
): Promise<Awaited<T> | undefined> {
  try {
    part.loading ??= new Promise((resolve) => {
      setTimeout(resolve, PART_MS)
      part
        .load(page, (loaded) => {
          // If it arrives late, it still serves later calls.
          part.loaded = loaded
          resolve()
          loaded.attend?.(page)
        })
        .catch(reportProblem)
    })
    await part.loading
    return part.loaded && (await call(part.loaded))
  } catch (error) {
    if (DEBUG) reportProblem(error)
    return undefined
  }
}

/** What the extras answer. They also load without consent, for copy buttons; what they send and fill depends on consent. */
export const askExtras = <T>(page: Page, call: (extras: Extras) => T): Promise<Awaited<T> | undefined> =>
  ask(EXTRAS, page, call)

export const askReaders = <T>(page: Page, call: (readers: Readers) => T): Promise<Awaited<T> | undefined> =>
  ask(READERS, page, call)

/** The extras, if they are there already. */
export const loadedExtras = () => EXTRAS.loaded
export const areExtrasLoading = () => EXTRAS.loading

/** Does what consent and the page's options allow by now; harmless to repeat. Never throws. */
export const resume = (page: Page): void =>
  safely(() => {
    for (const scope of page.scopes.values()) if (scope.isDue) void scope.count()
    if (nativeDocument.querySelector(commandsOf(page))) void askExtras(page, (extras) => extras)
  })
