/** Starts the ClickHouse fixture (`clickhouse-http/server.ts`) on a free port and a temporary folder, and ends it again. */

import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)
const PROGRAM = join(import.meta.dirname, 'clickhouse-http', 'server.ts')
const START_MS = 60_000
const END_MS = 20_000

export interface ClickHouseServer {
  /** `http(s)://user:password@127.0.0.1:PORT/database`; the same after `restart`. */
  readonly url: string
  readonly folder: string
  readonly pid: number
  /** SIGSTOP: the process keeps its connections and answers nothing. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves to its exit code, or null if it had to be killed. */
  end(): Promise<number | null>
  /** Starts it again on the same port and data. */
  restart(): Promise<void>
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

export interface ClickHouseServerOptions {
  readonly user?: string
  readonly password?: string
  /** Created if it is missing. */
  readonly database?: string
  /** HTTPS with a certificate of its own, which the URL names as `ca`. */
  readonly isTls?: boolean
  /** Its own process group: Ctrl-C in a terminal reaches only the process that started it. */
  readonly isDetached?: boolean
}

/** Resolves when it listens. */
export async function startClickHouse(options: ClickHouseServerOptions = {}): Promise<ClickHouseServer> {
  const { user = 'default', password = '', database = 'default' } = options
  const folder = await mkdtemp(join(tmpdir(), 'whence-clickhouse-'))
  const program = [PROGRAM, '--data', join(folder, 'data'), '--user', user, '--database', database]
  const caFile = join(folder, 'certificate.pem')
  if (options.isTls === true) program.push(...(await makeCertificate(caFile, join(folder, 'key.pem'))))
  const launchOn = (listen: string): Promise<Launched> =>
    launch([...program, `--password=${password}`, '--listen', listen], options.isDetached === true)
  let { child, url } = await launchOn('127.0.0.1:0').catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true })
    throw error
  })
  const { host, protocol } = new URL(url)
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  const search = options.isTls === true ? `?ca=${encodeURIComponent(caFile)}` : ''
  const kill = async (): Promise<void> => {
    if (isGone(child)) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  return {
    url: `${protocol}//${login}@${host}/${database}${search}`,
    folder,
    get pid() {
      return child.pid ?? 0
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    end: () => end(child),
    restart: async () => {
      ;({ child, url } = await launchOn(host))
    },
    stop: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Launched {
  readonly child: ChildProcess
  readonly url: string
}

async function launch(program: readonly string[], isDetached: boolean): Promise<Launched> {
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'], detached: isDetached })
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS)
  for await (const url of createInterface({ input: child.stdout })) {
    clearTimeout(timer)
    child.stdout.resume()
    return { child, url }
  }
  clearTimeout(timer)
  throw new Error('the ClickHouse fixture did not start')
}

async function makeCertificate(caFile: string, keyFile: string): Promise<readonly string[]> {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  await run('openssl', ['req', ...kind, ...subject, '-keyout', keyFile, '-out', caFile], { timeout: END_MS })
  return ['--certificate', caFile, '--key', keyFile]
}

async function end(child: ChildProcess): Promise<number | null> {
  if (isGone(child)) return child.exitCode
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  clearTimeout(timer)
  return child.exitCode
}

function isGone(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
