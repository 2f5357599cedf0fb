/** Shared by all benchmarks: the necessary tools exist, and a figure is the median of at least three rounds. */

import { spawnSync } from 'node:child_process'

const LEAST_ROUNDS = 3

/** @throws unless all of these commands exist; a benchmark without its tools would print zeros */
export function needTools(...tools: readonly string[]): void {
  const missing = tools.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
  if (missing.length > 0)
    throw new Error(
      `not measured, as ${missing.join(' and ')} cannot be found: sh test/install-tools.sh ${missing.join(' ')}`,
    )
}

/** @throws for fewer rounds than a median needs */
export function roundsFrom(text: string | undefined, fallback: number): number {
  const rounds = text === undefined ? fallback : Number(text)
  if (Number.isInteger(rounds) && rounds >= LEAST_ROUNDS) return rounds
  throw new Error(`${String(text)} rounds give no median: at least ${LEAST_ROUNDS}`)
}

/**
 * The middle one, or the mean of the two in the middle.
 * @throws if there is none, or one is not a number
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const low = sorted[(sorted.length - 1) >> 1]
  const high = sorted[sorted.length >> 1]
  if (low === undefined || high === undefined || sorted.some(Number.isNaN)) throw new Error('a figure is missing')
  return (low + high) / 2
}
