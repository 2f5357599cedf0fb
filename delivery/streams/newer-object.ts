/** Tells the progress of a stream that was made again from that of one which this process alone still knows. */

import { isOfAnotherObject, type StreamProgress } from '../../domain/streams/progress.ts'
import type { CatalogWaits } from '../catalog-waits.ts'

/** True, and told, if the progress belongs to another object than the known one, of a newer catalog than the one here. */
export function isOfNewerObject(progress: StreamProgress | null, uid: string, waits: CatalogWaits): boolean {
  if (progress === null || !isOfAnotherObject(progress, uid) || !waits.isBehind(progress.catalogNumber)) return false
  waits.waitFor(progress.catalogNumber)
  return true
}
