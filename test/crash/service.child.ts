/** The embedded service as a process of its own, so that a test can kill it. */

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { TEST_SECRET } from '../../fixtures/service/service.ts'

export interface ServiceChild {
  readonly url: string
  readonly pid: number
  /** Resolves when it takes requests; rejects when it ends before that. */
  readonly ready: Promise<void>
  readonly ended: Promise<{ readonly status: number | null; readonly signal: string | null }>
  /** Everything it wrote on standard error so far. */
  readonly stderr: () => string
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => void
}

export interface ChildOptions {
  /** Holds `manifests` and `data`. */
  readonly folder: string
  readonly port: number
  /** Of the metrics; any by default. */
  readonly metricsPort?: number
  readonly ga4Url: string
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const PROGRAM = new URL('../../bin/whencectl.ts', import.meta.url).pathname

export function startChild({
  folder,
  port,
  metricsPort = 0,
  ga4Url,
  words = [],
  env = {},
}: ChildOptions): ServiceChild {
  const given = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${metricsPort}`]
  given.push('--data', `${folder}/data`, '--manifests', `${folder}/manifests`, ...words)
  const child = spawn(process.execPath, [PROGRAM, 'embedded', ...given], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...cleanEnvironment(),
      WHENCE_SECRET: TEST_SECRET,
      WHENCE_GA4_URL: ga4Url,
      // Each request of the tests names an address of its own, as behind a proxy: limits are not what is tested.
      WHENCE_TRUST_PROXY: '127.0.0.1/32',
      ...env,
    },
  })
  let stderr = ''
  const collecting = Promise.withResolvers<void>()
  createInterface({ input: child.stderr }).on('line', (line) => {
    stderr += `${line}\n`
    if (line.includes('"msg":"collecting"')) collecting.resolve()
  })
  const ended = new Promise<{ status: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve({ status, signal }))
  })
  const early = ended.then(({ status, signal }) => {
    throw new Error(`the service ended before it was ready (${status ?? signal}): ${stderr}`)
  })
  const ready = Promise.race([collecting.promise, early])
  // A test that kills it while it starts does not wait for it to be ready.
  ready.catch(() => undefined)
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    ready,
    ended,
    stderr: () => stderr,
    kill: (signal) => void child.kill(signal),
  }
}

/** The test's own environment without settings of a service from the developer's shell. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WHENCE_')))
}
