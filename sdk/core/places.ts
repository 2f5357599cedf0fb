/** Where the parts are that load later, as the build fills it in. */

import type { Extras, Keeper, PartPlace, Readers, VisitRecorder } from './types.ts'

declare const EXTRAS: PartPlace<Extras>
declare const KEEPER: PartPlace<Keeper>
declare const READERS: PartPlace<Readers>
declare const RECORDER: PartPlace<VisitRecorder>

/** A bundle carries the places that it names, of 45 bytes each. */
export const EXTRAS_PLACE = EXTRAS
export const KEEPER_PLACE = KEEPER
export const READERS_PLACE = READERS
export const RECORDER_PLACE = RECORDER
