/** Starts toxiproxy, which cuts, delays and throttles TCP links, and ends it again. */

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'

export interface Links {
  /** Puts a link before a port of this machine and resolves with the link's own port. */
  readonly add: (name: string, port: number) => Promise<number>
  /** Cut: connections break and new ones are refused. */
  readonly cut: (name: string) => Promise<void>
  readonly mend: (name: string) => Promise<void>
  /** Delays every answer by this much, within the jitter; 0 removes the delay. */
  readonly delay: (name: string, ms: number, jitterMs?: number) => Promise<void>
  readonly stop: () => Promise<void>
}

const FETCH = join(import.meta.dirname, 'toxiproxy', 'fetch.sh')
const BUILD_MS = 300_000
const START_TRIES = 200
const START_PAUSE_MS = 50

/** Null if Go is missing, unless CI=true: then that is an error. The first call builds it. */
export async function toxiproxyProgram(): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(FETCH, [], { timeout: BUILD_MS })
    return stdout.trim()
  } catch (error) {
    const why = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
    if (process.env['CI'] === 'true') throw new Error(`toxiproxy cannot be had: ${why}`, { cause: error })
    console.error(why)
    return null
  }
}

/** `program` is from `toxiproxyProgram`. */
export async function startLinks(program: string): Promise<Links> {
  const port = await freePort()
  const child = spawn(program, ['-host', '127.0.0.1', '-port', String(port)], { stdio: 'ignore' })
  const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`toxiproxy ${method} ${path}: ${response.status} ${await response.text()}`)
  }
  await answering(() => ask('GET', '/version'), child)
  const delayed = new Set<string>()
  return {
    add: async (name, target) => {
      const listening = await freePort()
      const [listen, upstream] = [`127.0.0.1:${listening}`, `127.0.0.1:${target}`]
      await ask('POST', '/proxies', { name, listen, upstream, enabled: true })
      return listening
    },
    cut: (name) => ask('POST', `/proxies/${name}`, { enabled: false }),
    mend: (name) => ask('POST', `/proxies/${name}`, { enabled: true }),
    delay: async (name, ms, jitterMs = 0) => {
      if (delayed.delete(name)) await ask('DELETE', `/proxies/${name}/toxics/delay`)
      if (ms === 0) return
      const attributes = { latency: ms, jitter: jitterMs }
      await ask('POST', `/proxies/${name}/toxics`, { name: 'delay', type: 'latency', stream: 'downstream', attributes })
      delayed.add(name)
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function answering(ask: () => Promise<void>, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    if (child.exitCode !== null) throw new Error(`toxiproxy ended with ${child.exitCode}`)
    try {
      return await ask()
    } catch {
      await wait(START_PAUSE_MS)
    }
  }
  child.kill('SIGKILL')
  throw new Error('toxiproxy did not start')
}
