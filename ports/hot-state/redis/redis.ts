/** HotState on Redis: one script per verb, on the server's clock, for any number of processes. */

import { randomBytes } from 'node:crypto'

import type { HotState } from '../hot-state.ts'
import { redisClient } from './client.ts'
import { MOST_STRETCHED, RedisConnection, type KeepingProcess, type RedisNews } from './connection.ts'
import { fallBack } from './fallback.ts'
import { localHotState } from './local-hot-state.ts'
import { parseRedisUrl } from './url.ts'
import { redisVerbs, type RedisVerbs } from './verbs.ts'

export interface RedisHotStateOptions {
  readonly times?: Partial<RedisTimes>
  readonly maxInFlight?: number
  /**
   * `alone` (the default): while Redis is unreachable this process uses its own memory, and no verb rejects. `reject`:
   * verbs reject with `RedisUnavailable` until Redis is back, for roles that need Redis and can wait, such as `state`.
   */
  readonly whenAway?: 'alone' | 'reject'
  /** Replaces the server's clock (Unix ms). For tests only: all processes must use the same clock. */
  readonly clock?: () => number
  readonly news?: Partial<RedisNews>
}

interface RedisTimes {
  /** The longest that a verb waits for Redis. */
  readonly deadlineMs: number
  /** Pause between two probes while Redis is reachable. */
  readonly probeEveryMs: number
  /** Longest wait for the first answer; afterwards the state opens without Redis. */
  readonly connectWaitMs: number
  /**
   * After how long a process of `alone` that is not heard any more counts as gone: what it could not write to Redis is then
   * restored from the facts.
   */
  readonly goneAfterMs: number
}

/** Of every key, so that others may use the same Redis. */
const PREFIX = 'whence:'
const PROCESS_BYTES = 16
const MAX_IN_FLIGHT = 20_000
const TIMES: RedisTimes = { deadlineMs: 250, probeEveryMs: 1_000, connectWaitMs: 2_000, goneAfterMs: 60_000 }
const nothing = (): void => undefined
const NOBODY: RedisNews = { onUnreachable: nothing, onReachable: nothing, onNewRun: nothing }

/**
 * Opens the hot state of a Redis address (`url.ts`). Resolves even if Redis is unreachable.
 * @throws RedisUrlError
 */
export async function redisHotState(url: string, options: RedisHotStateOptions = {}): Promise<HotState> {
  const { maxInFlight = MAX_IN_FLIGHT, clock, whenAway = 'alone' } = options
  const times = { ...TIMES, ...options.times }
  const { connectWaitMs, goneAfterMs } = times
  const news = { ...NOBODY, ...options.news }
  const own = { prefix: PREFIX, times, maxInFlight }
  const verbsOf = (connection: RedisConnection): RedisVerbs =>
    redisVerbs(connection.run, { generation: () => connection.generation, goneAfterMs, clock })
  const client = redisClient(parseRedisUrl(url), times.deadlineMs * MOST_STRETCHED)
  if (whenAway === 'reject') {
    const connection = new RedisConnection(client, { ...own, process: null, news, onProbed: nothing })
    await connection.open(connectWaitMs)
    const health = () => ({ isReachable: connection.isReachable, isShared: true })
    return {
      ...verbsOf(connection),
      flush: nothingToFlush,
      health,
      close: async () => connection.close(),
    }
  }
  const process: KeepingProcess = {
    id: randomBytes(PROCESS_BYTES),
    keptSinceMs: () => fallback.keptSinceMs(),
    keepsSome: () => fallback.keepsSome(),
  }
  const connection: RedisConnection = new RedisConnection(client, {
    ...own,
    process,
    news: {
      ...news,
      onUnreachable(reason) {
        fallback.goAlone()
        news.onUnreachable(reason)
      },
    },
    // Also while Redis stays reachable: a single write may have been refused or late, and is kept then.
    onProbed: () => void fallback.handOver(),
  })
  const shared = verbsOf(connection)
  const fallback = fallBack(shared, localHotState(clock ?? Date.now), Date.now)
  await connection.open(connectWaitMs)
  return {
    ...fallback.verbs,
    flush: nothingToFlush,
    health: () => ({
      isReachable: connection.isReachable,
      isShared: connection.isReachable && fallback.isShared(),
    }),
    async close() {
      // One that keeps something back does not say that it ends: the role `state` then restores it.
      if (fallback.hasHandedOver()) await shared.leave(process.id).catch(nothing)
      connection.close()
    },
  }
}

/** Each verb resolves when Redis has stored it. */
async function nothingToFlush(): Promise<void> {}
