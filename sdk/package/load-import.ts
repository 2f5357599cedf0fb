/** Loads the other parts as chunks of the page's own bundle: the counterpart of `load-script.ts`. */

import type { LoadedPart, Page, PartOfSdk } from '../core/types.ts'

async function importPart<T extends LoadedPart>(page: Page, part: PartOfSdk<T>): Promise<T> {
  if (typeof part.place !== 'function') throw new Error('The package has no scripts.')
  part.loaded = await part.place()
  part.loaded.attend?.(page)
  return part.loaded
}

export { importPart as loadPart }
