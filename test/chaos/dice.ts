/** Chance that can be repeated: the same seed throws the same dice. */

export interface Dice {
  /** From 0 to before 1. */
  readonly next: () => number
  /** A whole number from 0 to before `end`. */
  readonly below: (end: number) => number
  readonly isOne: (chance: number) => boolean
  readonly pick: <T>(some: readonly [T, ...T[]]) => T
  readonly shuffled: <T>(some: readonly T[]) => T[]
}

/** Mulberry32; `seed` is a whole number of 32 bits. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (end: number): number => Math.floor(next() * end)
  return {
    next,
    below,
    isOne: (chance) => next() < chance,
    pick: (some) => some[below(some.length)] ?? some[0],
    shuffled: (some) => {
      const left = [...some]
      return some.map(() => left.splice(below(left.length), 1)[0]!)
    },
  }
}
