/** Where the parts are that load later, as the build fills it in. */

import type { Extras, Keeper, PartPlace, IdentityReader, VisitRecorder } from './types.ts'

declare const EXTRAS: PartPlace<Extras>
declare const KEEPER: PartPlace<Keeper>
/** By provider. */
declare const READERS: Readonly<Record<string, PartPlace<IdentityReader>>>
declare const RECORDER: PartPlace<VisitRecorder>

/** A bundle carries the places that it names, of some 20 bytes each. */
export const EXTRAS_PLACE = EXTRAS
export const KEEPER_PLACE = KEEPER
export const READER_PLACES = READERS
export const RECORDER_PLACE = RECORDER
