/** The HotState contract on a real Redis. */

import type { HotState } from '../../ports/hot-state/hot-state.ts'
import { redisHotState } from '../../ports/hot-state/redis.ts'
import { hasRedisServer, startRedis, type RedisServer } from '../support/redis.ts'

import type { HotStateHarness } from './hot-state.contract.ts'
import { hotStateContract } from './hot-state.contract.ts'
import { testClock } from './lmdb-harness.ts'

/** Thousands of calls at once are slow on a busy machine, and that is no failure here. */
const PATIENT = { deadlineMs: 15_000, connectWaitMs: 10_000 }

describe('HotState on Redis', () => {
  let server: RedisServer

  before(async function () {
    if (!hasRedisServer()) return this.skip()
    server = await startRedis()
  })
  after(() => server?.stop())

  hotStateContract('Redis', () => openHarness(() => server, server.url))
})

async function openHarness(server: () => RedisServer, url: string): Promise<HotStateHarness> {
  const clock = testClock()
  let state: HotState
  const open = async (): Promise<void> => {
    state = await redisHotState(url, { ...PATIENT, clock: clock.nowMs })
  }
  await open()
  return {
    get state() {
      return state
    },
    nowMs: clock.nowMs,
    setNowMs: clock.set,
    reopen: () => state.close().then(open),
    async close() {
      await state.close()
      server().cli('flushall')
    },
  }
}
