/** Loads the extras as a chunk of the page's own bundle: the counterpart of `load-script.ts`. */

import type { Extras, Page } from '../core/types.ts'

/** Passes the extras to `take` once they are loaded. Rejects if they cannot be fetched. */
export async function loadExtras(_: Page, take: (extras: Extras) => void): Promise<void> {
  const { extras } = await import('../extras/extras.ts')
  take(extras)
}
