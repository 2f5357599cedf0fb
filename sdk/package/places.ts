/** The parts in the package: chunks of the page's own bundle. The counterpart of `core/places.ts`. */

import { READ_PROVIDERS } from '../core/limits.ts'
import type { Extras, IdentityReader, Keeper, PartOfSdk, VisitRecorder } from '../core/types.ts'

export const EXTRAS: PartOfSdk<Extras> = { place: async () => (await import('../extras/extras.ts')).extras }
export const KEEPER: PartOfSdk<Keeper> = { place: async () => (await import('../keeper/keeper.ts')).keeper }
export const RECORDER: PartOfSdk<VisitRecorder> = {
  place: async () => (await import('../recorder/recorder.ts')).recorder,
}
/** All readers are one chunk. */
export const READERS: Readonly<Record<string, PartOfSdk<IdentityReader>>> = Object.fromEntries(
  READ_PROVIDERS.map((provider) => [
    provider,
    { place: async () => (await import('../readers/index.ts')).READERS[provider] },
  ]),
)
