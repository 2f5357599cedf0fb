/** The service as many processes on a real Kafka, a real Redis and the ClickHouse fixture, all on free loopback ports. */

import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { startEngines, type Engines, type EnginesOptions } from './engines.ts'
import { freePort } from './free-port.ts'
import { startProgram, type Program } from './programs.ts'
import { MANIFESTS, TEST_SECRET } from './service.ts'

export const ROLES = ['facts-writer', 'state', 'dispatch', 'ga4'] as const
export type Role = (typeof ROLES)[number] | 'api'

export interface Distributed {
  /** Of the first api process; the same after a restart. */
  readonly url: string
  readonly engines: Engines
  readonly facts: Facts
  /** The test's own way to the log: for reading, lags and appends. */
  readonly eventLog: EventLog
  readonly ga4: Ga4StandIn
  /** The watched folder of every process. */
  readonly manifests: string
  /** The first process of a role. */
  readonly program: (role: Role) => Program
  /** Ends a role as a crash would, or in peace, and starts it again. Resolves when it works. */
  readonly restart: (role: Role, signal?: 'SIGKILL' | 'SIGTERM') => Promise<void>
  /** Starts one more process of a role, with its own settings; the caller may end it, otherwise `stop` does. */
  readonly add: (role: Role, env?: Readonly<Record<string, string>>) => Promise<Program & { readonly url: string }>
  /** Moves the wall clock of every process; the engines' own clocks stay. */
  readonly advance: (ms: number) => void
  /** Writes manifests into the watched folder. */
  readonly apply: (files: Readonly<Record<string, string>>) => Promise<void>
  /** Resolves when every role has worked off its topics; waiting rooms may still hold what is not due. */
  readonly drain: () => Promise<void>
  readonly stop: () => Promise<void>
}

export interface DistributedOptions {
  /** How to start engines, or those to use; these are stopped with the service either way. */
  readonly engines: EnginesOptions | Engines
  readonly manifests?: Readonly<Record<string, string>>
  /** For every process, over what the engines say. */
  readonly env?: Readonly<Record<string, string>>
  /** For the processes of one role. */
  readonly envOf?: Readonly<Partial<Record<Role, Readonly<Record<string, string>>>>>
  /** Requests that the stand-in for GA4 remembers. */
  readonly keepHits?: number
}

const PRELOAD = ['--import', new URL('moved-clock.ts', import.meta.url).href]
const DRAIN_TRIES = 600
const DRAIN_PAUSE_MS = 100

export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'whence-distributed-'))
    closers.push(() => rm(folder, { recursive: true, force: true }))
    const engines = 'stop' in options.engines ? options.engines : await startEngines(options.engines)
    closers.push(() => engines.stop())
    const keep = options.keepHits
    const ga4 = await startGa4StandIn({ port: 0, ...(keep === undefined ? {} : { keep }) })
    closers.push(() => ga4.stop())
    const eventLog = await kafkaEventLog(engines.kafkaSettings)
    closers.push(() => eventLog.close())
    const manifests = join(folder, 'manifests')
    await mkdir(manifests)
    const clock = clockIn(folder)
    const apply = (files: Readonly<Record<string, string>>): Promise<void> => writeAll(manifests, files)
    await apply(options.manifests ?? MANIFESTS)
    const shared = { WHENCE_GA4_URL: ga4.url, WHENCE_MANIFESTS: manifests, MOVED_CLOCK: clock.file }
    const env = { ...engines.env, ...shared, ...options.env }
    const processes = launcher({ ...options, env })
    closers.push(() => processes.stop())
    await Promise.all([...ROLES, 'api' as const].map((role) => processes.restart(role)))
    return {
      ...processes,
      ...{ engines, eventLog, ga4, manifests, apply, stop, advance: clock.advance },
      url: `http://127.0.0.1:${await processes.port}`,
      facts: clickhouseFacts(engines.connection, { nowMs: Date.now }),
      drain: () => drain(eventLog),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts processes, knows the first of each role, and ends all. */
function launcher({ env, envOf = {} }: DistributedOptions & { readonly env: Readonly<Record<string, string>> }) {
  const firsts = new Map<Role, Program>()
  const all = new Set<Program>()
  const port = freePort()
  const launch = async (role: Role, atPort: number, more: Readonly<Record<string, string>>): Promise<Program> => {
    const settings = { WHENCE_METRICS_LISTEN: '127.0.0.1:0', ...env, ...envOf[role], ...more }
    const program =
      role === 'api'
        ? startProgram(['api', '--listen', `127.0.0.1:${atPort}`], {
            env: { WHENCE_SECRET: TEST_SECRET, ...settings },
            nodeWords: PRELOAD,
          })
        : // The roles of the delivery side sign nothing and read no receipts.
          startProgram(['delivery', '--role', role], { env: settings, nodeWords: PRELOAD })
    all.add(program)
    program.ended.then(
      () => all.delete(program),
      () => all.delete(program),
    )
    return program
  }
  return {
    port,
    program: (role: Role): Program => {
      const program = firsts.get(role)
      if (program === undefined) throw new Error(`no ${role} runs`)
      return program
    },
    restart: async (role: Role, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> => {
      await firsts.get(role)?.end(signal)
      const program = await launch(role, await port, {})
      firsts.set(role, program)
      await program.ready
    },
    add: async (role: Role, more: Readonly<Record<string, string>> = {}) => {
      const atPort = await freePort()
      const program = await launch(role, atPort, more)
      await program.ready
      return { ...program, url: `http://127.0.0.1:${atPort}` }
    },
    stop: () => Promise.all([...all].map((program) => program.end('SIGTERM'))),
  }
}

/** The file that the processes' clocks are moved by. */
function clockIn(folder: string): { readonly file: string; readonly advance: (ms: number) => void } {
  const file = join(folder, 'clock')
  let offsetMs = 0
  const advance = (ms: number): void => writeFileSync(file, String((offsetMs += ms)))
  advance(0)
  return { file, advance }
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}

/** Quiet twice in a row: a role that finishes may have given another one work in between. */
async function drain(eventLog: EventLog): Promise<void> {
  let quiet = 0
  for (let tries = 0; tries < DRAIN_TRIES; tries++) {
    // While the broker or a group's coordinator comes back a role's progress is unknown.
    const lag = await eventLog.lag().catch(() => null)
    const waiting = lag?.filter(({ topic, entries }) => entries > 0 && !/\.\d+[smh]$/.test(topic))
    quiet = waiting?.length === 0 ? quiet + 1 : 0
    if (quiet === 3) return
    await wait(DRAIN_PAUSE_MS)
  }
  const left = (await eventLog.lag()).filter(({ entries }) => entries > 0)
  throw new Error(`not drained: ${JSON.stringify(left)}`)
}
