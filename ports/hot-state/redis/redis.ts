/** HotState on Redis: one script per verb, on the server's clock, for any number of processes. */

import type { HotState } from '../hot-state.ts'
import { redisClient } from './client.ts'
import { MOST_STRETCHED, RedisConnection } from './connection.ts'
import { fallBack } from './fallback.ts'
import { standIn } from './stand-in.ts'
import { parseRedisUrl } from './url.ts'
import { redisVerbs } from './verbs.ts'

export interface RedisHotStateOptions {
  /** Begins every key, so that others may use the same Redis. */
  readonly prefix?: string
  /** No verb waits longer for Redis. */
  readonly deadlineMs?: number
  /** Between two probes of a Redis that is there. */
  readonly probeEveryMs?: number
  /** Longest wait for the first answer; afterwards the state starts with Redis away. */
  readonly connectWaitMs?: number
  readonly maxInFlight?: number
  /**
   * `alone` (as it comes): this process goes on with what it knows itself, and no verb rejects. `reject`: verbs reject
   * with `RedisUnavailable` until Redis is back, for those who must reach it and can wait, as the role `state`.
   */
  readonly whenAway?: 'alone' | 'reject'
  /** Takes the place of the server's clock (Unix ms). For tests alone: processes must not differ in their time. */
  readonly clock?: () => number
  /** Redis is away, and why; without keys, values and credentials. */
  readonly onUnreachable?: (reason: string) => void
  readonly onReachable?: () => void
  /** What Redis holds is not what it was: restarted, failed over or emptied. `before` is null at the first connection. */
  readonly onNewRun?: (run: string, before: string | null) => void
}

const nothing = (): void => undefined
const DEFAULTS = {
  prefix: 'whence:',
  deadlineMs: 250,
  probeEveryMs: 1_000,
  connectWaitMs: 2_000,
  maxInFlight: 20_000,
  whenAway: 'alone',
  onUnreachable: nothing,
  onReachable: nothing,
  onNewRun: nothing,
}

/**
 * Opens the hot state of a Redis address (`redis-url.ts`). Resolves also where Redis is away.
 * @throws RedisUrlError
 */
export async function redisHotState(url: string, options: RedisHotStateOptions = {}): Promise<HotState> {
  const { connectWaitMs, clock, whenAway, ...connecting } = { ...DEFAULTS, ...options }
  const client = redisClient(parseRedisUrl(url), connecting.deadlineMs * MOST_STRETCHED)
  if (whenAway === 'reject') {
    const connection = new RedisConnection(client, connecting)
    await connection.open(connectWaitMs)
    const health = () => ({ isReachable: connection.isReachable, isShared: true })
    return {
      ...redisVerbs(connection.run, () => connection.life, clock),
      flush,
      health,
      close: async () => connection.close(),
    }
  }
  const connection: RedisConnection = new RedisConnection(client, {
    ...connecting,
    onUnreachable(reason) {
      fallback.goAlone()
      connecting.onUnreachable(reason)
    },
    onReachable() {
      void fallback.handOver()
      connecting.onReachable()
    },
  })
  const fallback = fallBack(
    redisVerbs(connection.run, () => connection.life, clock),
    standIn(clock ?? Date.now),
    () => performance.now(),
  )
  await connection.open(connectWaitMs)
  return {
    ...fallback.verbs,
    flush,
    health: () => ({
      isReachable: connection.isReachable,
      isShared: connection.isReachable && fallback.isShared(),
    }),
    close: async () => connection.close(),
  }
}

/** Each verb ends when Redis has it. */
async function flush(): Promise<void> {}
