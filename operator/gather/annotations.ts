/** Annotations with which a person controls the operator's treatment of one object. */

import { RESOURCE_GROUP } from '../../domain/resources/resources.ts'

/** A new value makes the operator check the object again at once; the status repeats it once that is done. */
export const RECONCILE_ANNOTATION = `${RESOURCE_GROUP}/reconcile-now`

/**
 * On a Website or Destination, with the value `true`: it stays in force as it was, and nothing is written to it, until the
 * annotation is removed.
 */
export const PAUSED_ANNOTATION = `${RESOURCE_GROUP}/paused`
