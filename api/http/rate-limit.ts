/** The limit per client address, as express-rate-limit middleware over the hot state's clock-aligned windows. */

import { rateLimit, type Options, type RateLimitRequestHandler, type Store } from 'express-rate-limit'
import { memberOf } from '../../domain/strict-json.ts'
import { RATE_RULES } from '../../domain/limits.ts'
import { addressHit } from '../../domain/collection/rate.ts'
import type { HotState } from '../../ports/hot-state/hot-state.ts'
import type { Request, Response } from 'express'

interface AddressLimitOptions {
  readonly hotState: HotState
  readonly nowMs: () => number
  /** Keyed hash of the client's address: the middleware never sees the address. */
  readonly addressHash: (req: Request) => string
  readonly onLimited: (req: Request, res: Response, retryAfterS: number) => Promise<void>
}

/**
 * The middleware passes only a window's end from its store to its handler; the Date object's identity carries the rest.
 */
type Waits = WeakMap<Date, number>

export function addressLimit(options: AddressLimitOptions): RateLimitRequestHandler {
  const { limit, windowS } = RATE_RULES.collection
  const waits: Waits = new WeakMap()
  return rateLimit({
    windowMs: windowS * 1_000,
    limit,
    keyGenerator: options.addressHash,
    store: clockStore(options, waits),
    standardHeaders: false,
    legacyHeaders: false,
    // The library's own checks print client addresses.
    validate: false,
    // An unreachable store must not stop collection; /health reports it.
    passOnStoreError: true,
    handler: (req, res, next) => {
      const resetTime = memberOf(memberOf(req, 'rateLimit'), 'resetTime')
      const retryAfterS = resetTime instanceof Date ? waits.get(resetTime) : undefined
      options.onLimited(req, res, retryAfterS ?? windowS).catch(next)
    },
  })
}

/** The library's own store starts a window at the first hit; the contract requires windows aligned to the clock. */
function clockStore(options: AddressLimitOptions, waits: Waits): Store {
  const { limit } = RATE_RULES.collection
  return {
    init: (_: Options) => undefined,
    increment: async (addressHash) => {
      const outcome = await options.hotState.countHits([addressHit(addressHash)])
      if (outcome.kind === 'counted') return { totalHits: outcome.counts[0] ?? 1, resetTime: undefined }
      const resetTime = new Date(options.nowMs() + outcome.retryAfterS * 1_000)
      waits.set(resetTime, outcome.retryAfterS)
      return { totalHits: limit + 1, resetTime }
    },
    // The pipeline returns the hits of a request that was not accepted; a refused one was never counted.
    decrement: () => undefined,
    resetKey: () => undefined,
  }
}
