/** Loads the other parts as chunks of the page's own bundle: the counterpart of `load-script.ts`. */

import type { Extras, LoadPart, Readers, VisitRecorder } from '../core/types.ts'

export const loadExtras: LoadPart<Extras> = async (_, take) => take((await import('../extras/extras.ts')).extras)
export const loadReaders: LoadPart<Readers> = async (_, take) => take((await import('../readers/readers.ts')).readers)
export const loadRecorder: LoadPart<VisitRecorder> = async (_, take) =>
  take((await import('../recorder/recorder.ts')).recorder)
