/** Annotations by which a person steers what the operator does with one object. */

import { RESOURCE_GROUP } from '../../domain/resources/resources.ts'

/** A new value has the object looked at again at once; the status repeats it once that is done. */
export const RECONCILE_ANNOTATION = `${RESOURCE_GROUP}/reconcile-now`

/** On a Website, with the value `true`: it stays as it was in force, and nothing is written to it, until it is taken away. */
export const PAUSED_ANNOTATION = `${RESOURCE_GROUP}/paused`
