/**
 * Notices that the process stood still: stopped, paused with its machine, or busy for seconds.
 *
 * Afterwards timers that are due fire before anything is read that arrived meanwhile. Code that ends late requests must not count
 * this time, because the client may have sent everything.
 */

import { every } from '../../common/every.ts'

const LOOK_EVERY_MS = 500
/** Shorter delays are usual on a busy machine. */
const STILL_MS = 1_000

interface Standstill {
  /** Whether the process stood still until now or until less than `withinMs` ago. */
  readonly wasWithin: (withinMs: number) => boolean
  readonly close: () => Promise<void>
}

export function watchStandstill(nowMs: () => number = () => performance.now()): Standstill {
  let lookedAtMs = nowMs()
  let overAtMs = Number.NEGATIVE_INFINITY
  const look = (): void => {
    if (nowMs() - lookedAtMs > LOOK_EVERY_MS + STILL_MS) overAtMs = nowMs()
    lookedAtMs = nowMs()
  }
  const { close } = every(LOOK_EVERY_MS, look, { firstMs: LOOK_EVERY_MS, onFailure: () => undefined })
  return {
    wasWithin(withinMs) {
      // Another timer may fire before this one.
      look()
      return nowMs() - overAtMs < withinMs
    },
    close,
  }
}
