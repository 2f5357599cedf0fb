/** Settings of programs on engines that only a benchmark uses, and a Redis in the state that it has in operation. */

import { setTimeout as wait } from 'node:timers/promises'

import type { Engines } from '../../fixtures/engines/engines.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'

const SECRET = 'only-for-measuring-only-for-measuring'
const STEP_MS = 50

export function settingsOf({ env }: Engines): Readonly<Record<string, string>> {
  return { ...env, WHENCE_SECRET: SECRET, WHENCE_TRUST_PROXY: '127.0.0.0/8', WHENCE_LOG_LEVEL: 'error' }
}

/** An empty Redis may have lost something: until a role `state` has looked, an api asks ClickHouse about each installation. */
export async function fillRedis(engines: Engines): Promise<void> {
  const hotState = await redisHotState(engines.env.WHENCE_HOT_STATE)
  const state = startProgram(['delivery', '--role', 'state'], {
    env: { ...settingsOf(engines), WHENCE_METRICS_LISTEN: '127.0.0.1:0' },
  })
  try {
    while ((await hotState.forgotten()) !== null) await wait(STEP_MS)
  } finally {
    await state.end('SIGTERM')
    await hotState.close()
  }
}
