/** Starts real Redis servers and Sentinels on free loopback ports in temporary folders, and ends them by process ID. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.ts'

export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly folder: string
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same port and data after `kill`. */
  restart(): Promise<void>
  /** Stops it in its tracks: connections stay, nothing answers. */
  freeze(): void
  thaw(): void
  /** One command by `redis-cli`, with its output. */
  cli(...args: readonly string[]): string
  /** Ends it and deletes its folder. */
  stop(): Promise<void>
}

export interface RedisServerOptions {
  /** Lines of `redis.conf`, such as `appendonly yes`. */
  readonly settings?: readonly string[]
  /** Arguments for `redis-cli`, for example of a user. */
  readonly cliArguments?: readonly string[]
  readonly isSentinel?: boolean
  /** Listens only for TLS; the certificate is in the settings. */
  readonly isTls?: boolean
  /** Its own process group: Ctrl-C in a terminal reaches only the process that started it. */
  readonly isDetached?: boolean
}

const HOST = '127.0.0.1'
const START_MS = 15_000
const CLI_MS = 10_000

/** If `redis-server` is missing a test that needs it says so; that is a failure on a build machine. */
export function hasRedisServer(): boolean {
  const isThere = spawnSync('redis-server', ['--version'], { timeout: CLI_MS }).status === 0
  if (!isThere && process.env['CI'] === 'true') throw new Error('redis-server is missing: sh test/install-tools.sh')
  return isThere
}

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-redis-'))
  const port = await freePort()
  const config = join(folder, 'redis.conf')
  const isPersistent = options.settings?.includes('appendonly yes') === true
  const lines = [
    `bind ${HOST}`,
    ...(options.isTls === true ? ['port 0', `tls-port ${port}`] : [`port ${port}`]),
    `dir ${folder}`,
    'logfile redis.log',
    ...(options.isSentinel === true || isPersistent ? [] : ['save ""']),
    ...(options.settings ?? []),
  ]
  await writeFile(config, `${lines.join('\n')}\n`)
  const command = options.isSentinel === true ? ['--sentinel'] : []
  const launchIt = (): Promise<ChildProcess> =>
    launch([config, ...command], { port, folder, isDetached: options.isDetached === true })
  let child = await launchIt()
  return {
    port,
    url: `redis://${HOST}:${port}/0`,
    folder,
    kill: () => end(child),
    async restart() {
      child = await launchIt()
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    cli(...args) {
      const connection = ['-h', HOST, '-p', String(port), ...(options.cliArguments ?? [])]
      const { status, stdout, stderr } = spawnSync('redis-cli', [...connection, ...args], {
        encoding: 'utf8',
        timeout: CLI_MS,
      })
      if (status !== 0) throw new Error(`redis-cli ${args[0] ?? ''}: ${stderr}${stdout}`)
      return stdout.trim()
    },
    async stop() {
      await end(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A Sentinel that alone decides, quickly, and watches the server at this port under this name. */
export function startSentinel(name: string, port: number): Promise<RedisServer> {
  const settings = [
    `sentinel monitor ${name} ${HOST} ${port} 1`,
    `sentinel down-after-milliseconds ${name} 400`,
    `sentinel failover-timeout ${name} 3000`,
  ]
  return startRedis({ settings, isSentinel: true })
}

async function launch(
  args: readonly string[],
  { port, folder, isDetached }: { readonly port: number; readonly folder: string; readonly isDetached: boolean },
): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: 'ignore', detached: isDetached })
  const untilMs = Date.now() + START_MS
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > untilMs) {
      child.kill('SIGKILL')
      throw new Error(`redis-server did not start: ${await readFile(join(folder, 'redis.log'), 'utf8')}`)
    }
    await pause(10)
  }
  return child
}

/** Whether something answers there, be it with a demand for a password or for TLS. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST)
    socket.setTimeout(CLI_MS, () => socket.destroy())
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGKILL')
  await ended
}
