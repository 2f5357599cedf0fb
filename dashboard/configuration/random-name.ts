/** Random names, which reveal nothing and never collide. */

import type { Randomness } from '../../runtime/random.ts'

const NAME_BYTES = 8

/** The kind's first letter, and 16 hex digits. */
export function randomName(kind: string, randomness: Randomness): string {
  return `${kind[0]?.toLowerCase() ?? 'x'}-${randomness.hex(NAME_BYTES)}`
}
