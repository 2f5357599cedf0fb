/** Loads the extras as a chunk of the page's own bundle: what `load-script.ts` is for the script tag. */

import type { Extras, Page } from '../core/types.ts'

/** Calls back with the extras once they are here. Rejects if they cannot be fetched. */
export async function loadExtras(_: Page, take: (extras: Extras) => void): Promise<void> {
  const { extras } = await import('../extras/extras.ts')
  take(extras)
}
