/** An api on engines that only a benchmark uses, and a Redis in the state that it has in operation. */

import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

import type { Engines } from '../../fixtures/engines/engines.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { redisHotState } from '../../ports/hot-state/redis/redis.ts'
import { startPinned, waitFor } from './http-load.ts'

const SECRET = 'only-for-measuring-only-for-measuring'
const STEP_MS = 50

/** A program under load. */
export interface Server {
  readonly port: number
  readonly child: ChildProcess
}

interface ApiOptions {
  /** Folder of its manifests. */
  readonly manifests: string
  /** As in NODE_OPTIONS; without them Node.js uses the machine's memory. */
  readonly nodeOptions?: string
  /** Of which tree; this one if absent. */
  readonly tree?: string
}

export async function startApi(engines: Engines, { manifests, nodeOptions = '', tree }: ApiOptions): Promise<Server> {
  const port = await freePort()
  const words = ['bin/whencectl.ts', 'api', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
  const env = { ...settingsOf(engines), NODE_OPTIONS: nodeOptions }
  const child = startPinned([...words, '--manifests', manifests], env, tree)
  await waitFor(`http://127.0.0.1:${port}/health`)
  return { port, child }
}

function settingsOf({ env }: Engines): Readonly<Record<string, string>> {
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
