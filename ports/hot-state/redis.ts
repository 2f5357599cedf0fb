/** HotState on Redis: one script per verb, on the server's clock, for any number of processes. */

import type { HotState } from './hot-state.ts'
import { redisClient } from './redis-client.ts'
import { RedisConnection } from './redis-connection.ts'
import { parseRedisUrl } from './redis-url.ts'
import { redisVerbs } from './redis-verbs.ts'

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
  onUnreachable: nothing,
  onReachable: nothing,
  onNewRun: nothing,
}

/**
 * Opens the hot state of a Redis address (`redis-url.ts`). Resolves also where Redis is away.
 * @throws RedisUrlError
 */
export async function redisHotState(url: string, options: RedisHotStateOptions = {}): Promise<HotState> {
  const { connectWaitMs, clock, ...connecting } = { ...DEFAULTS, ...options }
  const connection = new RedisConnection(redisClient(parseRedisUrl(url)), connecting)
  await connection.open(connectWaitMs)
  return {
    ...redisVerbs(connection.run, clock),
    health: () => ({ isReachable: connection.isReachable, isShared: true }),
    close: async () => connection.close(),
  }
}
