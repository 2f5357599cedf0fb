/** Installs the packages of a real project, builds it, and serves it as its own commands do. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../../fixtures/engines/free-port.ts'

const run = promisify(execFile)
const READY_TRIES = 600
const READY_STEP_MS = 200
const ENVIRONMENT = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1', CI: 'true' }

export interface RealProject {
  readonly packages: readonly string[]
  /** By path. `package.json` if it must not be of ES modules. */
  readonly files: Readonly<Record<string, string>>
  /** Words of the command; the program lies in the project's own packages. */
  readonly build: readonly string[]
}

export async function buildProject(home: string, { packages, files, build }: RealProject): Promise<void> {
  const all = { 'package.json': '{"name":"site","private":true,"type":"module"}', ...files }
  for (const [file, text] of Object.entries(all)) {
    await mkdir(path.join(home, path.dirname(file)), { recursive: true })
    await writeFile(path.join(home, file), text)
  }
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], { cwd: home })
  const [program = '', ...rest] = build
  await run(path.join(home, 'node_modules/.bin', program), rest, { cwd: home, env: ENVIRONMENT })
}

export interface ServedProject {
  readonly origin: string
  readonly stop: () => Promise<void>
}

/** `PORT` in the words of the command stands for this one, or for a free one. */
export async function serveProject(
  home: string,
  words: readonly string[],
  wanted: number | null = null,
): Promise<ServedProject> {
  const port = wanted ?? (await freePort())
  const [program = '', ...rest] = words.map((word) => word.replace('PORT', String(port)))
  const child = spawn(path.join(home, 'node_modules/.bin', program), rest, {
    cwd: home,
    detached: true,
    stdio: 'ignore',
    env: ENVIRONMENT,
  })
  const origin = `http://localhost:${port}`
  for (let tries = 0; tries < READY_TRIES && child.exitCode === null; tries++) {
    const isReady = await fetch(origin).then(
      (answer) => answer.status < 500,
      () => false,
    )
    if (isReady) return { origin, stop }
    await wait(READY_STEP_MS)
  }
  await stop()
  throw new Error(`${words.join(' ')} does not answer`)

  async function stop(): Promise<void> {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    // The framework's command starts processes of its own.
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    await ended
  }
}
