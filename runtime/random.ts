/** Random bytes and IDs, drawn from a pool: one call to the system for hundreds of requests. */

import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 8_192

interface HexSource {
  /** `count` fresh random bytes in hex. */
  readonly hex: (count: number) => string
}

export interface Randomness extends HexSource {
  /** A copy of `count` fresh random bytes; at most a pool full. */
  readonly bytes: (count: number) => Uint8Array
  /** Uniform in [0, 1): for jitter, not for secrets. */
  readonly fraction: () => number
}

/** What times and IDs are made of. */
export interface Stamps {
  readonly nowMs: () => number
  readonly randomness: Randomness
}

export function createRandomness(): Randomness {
  const pool = Buffer.alloc(POOL_BYTES)
  let used = POOL_BYTES
  const take = (count: number): Buffer => {
    if (used + count > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const slice = pool.subarray(used, used + count)
    used += count
    return slice
  }
  return {
    bytes: (count) => new Uint8Array(take(count)),
    hex: (count) => take(count).toString('hex'),
    fraction: () => Math.random(),
  }
}

/** Ascending with time and unique: 12 hex digits of the Unix time in ms, then 16 random ones. */
export function timeOrderedId(randomness: HexSource, nowMs: number): string {
  return nowMs.toString(16).padStart(12, '0') + randomness.hex(8)
}
