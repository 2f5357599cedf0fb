/** The parts that load later. The build writes this file anew for each bundle, with their addresses. */

import type { Extras, IdentityReader, Keeper, PartOfSdk, VisitRecorder } from './types.ts'

export const EXTRAS: PartOfSdk<Extras> = { place: '' }
export const KEEPER: PartOfSdk<Keeper> = { place: '' }
export const RECORDER: PartOfSdk<VisitRecorder> = { place: '' }
/** By provider. */
export const READERS: Readonly<Record<string, PartOfSdk<IdentityReader>>> = {}
