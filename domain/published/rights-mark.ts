/**
 * A mark of everything that decides who may do what. The operator publishes it in the index of the catalog, and a process of the dashboard
 * compares it with that of its own copies: equal marks prove that it has missed nothing.
 */

import type { Sha256Hex } from '../origin.ts'
import type { ResourceKind } from '../resources/resources.ts'

/** The kinds that say who may do what. */
export const RIGHTS_KINDS = ['Organization', 'Member', 'ApiKey', 'ShareLink'] as const satisfies readonly ResourceKind[]

/** What is marked of an object: the API server gives each change of a spec a new generation, and each object made anew a new UID. */
interface MarkedObject {
  readonly metadata: { readonly name: string; readonly uid?: string; readonly generation?: number }
}

const DIGITS = 12
const MODULUS = 16 ** DIGITS

/** Digests of objects that were marked before; an object that stays the same is not hashed again. */
type MarkMemory = WeakMap<MarkedObject, number>

/** Does not depend on the order of the objects. */
export function createRightsMark(sha256Hex: Sha256Hex): (objects: Iterable<MarkedObject>) => string {
  const memory: MarkMemory = new WeakMap()
  const digestOf = (object: MarkedObject): number => {
    const known = memory.get(object)
    if (known !== undefined) return known
    const { name, uid = '', generation = 0 } = object.metadata
    const digest = Number.parseInt(sha256Hex(`${uid} ${name} ${generation}`).slice(0, DIGITS), 16)
    memory.set(object, digest)
    return digest
  }
  return (objects) => {
    let sum = 0
    for (const object of objects) sum = (sum + digestOf(object)) % MODULUS
    return sum.toString(16).padStart(DIGITS, '0')
  }
}
