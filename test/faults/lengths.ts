/** How long the fault runs are: short in `make test-long`, long in `make chaos`, which sets WHENCE_CHAOS. */

const isLong = process.env['WHENCE_CHAOS'] !== undefined
const SHORT_SILENCE_MS = 6_000
const LONG_SILENCE_MS = 30_000

export const LONG = {
  isLong,
  /** How often all faults are gone through. */
  rounds: isLong ? Number(process.env['WHENCE_CHAOS']) : 1,
  /** No answer may take longer while the broker is silent; in `make test-long` other programs may share the machine. */
  answerMs: isLong ? 1_500 : 4_000,
  /** No longer may every answer be a 5xx while Redis is lost. */
  refusedMs: isLong ? 3_000 : 6_000,
} as const

/** How long the broker is silent. */
export function silenceMs(): number {
  return isLong ? LONG_SILENCE_MS : SHORT_SILENCE_MS
}
