/** Where the parts are in the package: chunks of the page's own bundle. The counterpart of `core/places.ts`. */

import { READ_PROVIDERS } from '../core/limits.ts'
import type { Extras, Keeper, PartPlace, IdentityReader, VisitRecorder } from '../core/types.ts'

export const EXTRAS_PLACE: PartPlace<Extras> = async () => (await import('../extras/extras.ts')).extras
export const KEEPER_PLACE: PartPlace<Keeper> = async () => (await import('../keeper/keeper.ts')).keeper
export const RECORDER_PLACE: PartPlace<VisitRecorder> = async () => (await import('../recorder/recorder.ts')).recorder
/** All readers are one chunk. */
export const READER_PLACES: Readonly<Record<string, PartPlace<IdentityReader>>> = Object.fromEntries(
  READ_PROVIDERS.map((provider) => [provider, async () => (await import('../readers/index.ts')).READERS[provider]]),
)
