/** Loads the other parts as chunks of the page's own bundle: the counterpart of `load-script.ts`. */

import type { Page, PartPlace } from '../core/types.ts'

async function importPart<T>(_: Page, place: PartPlace<T>, take: (part: T) => void): Promise<void> {
  if (typeof place === 'function') take(await place())
}

export { importPart as loadPart }
