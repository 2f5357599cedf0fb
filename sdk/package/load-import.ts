/** Loads the other parts as chunks of the page's own bundle: the counterpart of `load-script.ts`. */

import type { Page, PartPlace } from '../core/types.ts'

export async function loadPart<T>(_: Page, place: PartPlace<T>, take: (part: T) => void): Promise<void> {
  if (typeof place === 'function') take(await place())
}
