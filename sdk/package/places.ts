/** Where the parts are in the package: chunks of the page's own bundle. The counterpart of `core/places.ts`. */

import type { Extras, Keeper, PartPlace, Readers, VisitRecorder } from '../core/types.ts'

export const EXTRAS_PLACE: PartPlace<Extras> = async () => (await import('../extras/extras.ts')).extras
export const KEEPER_PLACE: PartPlace<Keeper> = async () => (await import('../keeper/keeper.ts')).keeper
export const READERS_PLACE: PartPlace<Readers> = async () => (await import('../readers/readers.ts')).readers
export const RECORDER_PLACE: PartPlace<VisitRecorder> = async () => (await import('../recorder/recorder.ts')).recorder
