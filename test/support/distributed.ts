/** The service as many processes on a real Kafka, a real Redis and the ClickHouse fixture, all on free loopback ports. */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { checkKafkaTopics } from '../../ports/event-log/kafka.ts'
import { parseKafkaUrl } from '../../ports/event-log/kafka-url.ts'
import { openClickHouse } from '../../ports/facts/connect-server.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { migrate } from '../../ports/facts/migrate.ts'
import { startGa4Simulator, type Ga4Simulator } from '../../delivery/simulator/ga4.ts'
import { startClickHouse } from './clickhouse-server.ts'
import { startKafka } from './kafka.ts'
import { startRedis } from './redis.ts'
import { freePort, MANIFESTS, TEST_SECRET } from './service.ts'

export const ROLES = ['facts-writer', 'state', 'dispatch', 'ga4'] as const
export type Role = (typeof ROLES)[number] | 'api'

export interface Distributed {
  readonly url: string
  readonly facts: Facts
  readonly ga4: Ga4Simulator
  /** Ends a role as a crash would, and starts it again. */
  readonly restart: (role: Role) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface DistributedOptions {
  /** Folder of Kafka's jars, from `kafkaJars`. */
  readonly jars: string
  readonly manifests?: Readonly<Record<string, string>>
  /** Told what is being started. */
  readonly onProgress?: (what: string) => void
}

const PROGRAM = new URL('../../bin/whence.ts', import.meta.url).pathname
const READY_TRIES = 600
const READY_PAUSE_MS = 100

export async function startDistributed(options: DistributedOptions): Promise<Distributed> {
  const say = options.onProgress ?? (() => undefined)
  const folder = await mkdtemp(join(tmpdir(), 'whence-distributed-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    say('Kafka, Redis and ClickHouse')
    const kafka = await startKafka(options.jars)
    closers.push(() => kafka.stop())
    const redis = await startRedis()
    closers.push(() => redis.stop())
    const clickhouse = await startClickHouse({ database: 'whence' })
    closers.push(() => clickhouse.stop())
    const ga4 = await startGa4Simulator({ port: 0 })
    closers.push(() => ga4.stop())
    say('topics and tables')
    const kafkaUrl = `kafka://${kafka.plain}?replication=1&min-in-sync=1&partitions=2&unsafe=allow`
    const connection = openClickHouse(clickhouse.url)
    closers.push(() => connection.close())
    await migrateAll(kafkaUrl, connection)
    const manifests = join(folder, 'manifests')
    await mkdir(manifests)
    for (const [name, text] of Object.entries(options.manifests ?? MANIFESTS))
      await writeFile(join(manifests, name), text)
    const port = await freePort()
    const env = {
      WHENCE_SECRET: TEST_SECRET,
      WHENCE_EVENT_LOG: kafkaUrl,
      WHENCE_HOT_STATE: redis.url,
      WHENCE_FACTS: clickhouse.url,
      WHENCE_MANIFESTS: manifests,
      WHENCE_METRICS_LISTEN: '127.0.0.1:0',
      WHENCE_GA4_URL: ga4.url,
      WHENCE_LOG_LEVEL: 'warn',
    }
    const processes = new Map<Role, ChildProcess>()
    const launch = async (role: Role): Promise<void> => {
      const words = role === 'api' ? ['api', '--listen', `127.0.0.1:${port}`] : ['delivery', '--role', role]
      const child = spawn(process.execPath, [PROGRAM, ...words], {
        env:
          role === 'api' ? { PATH: process.env['PATH'], ...env } : { PATH: process.env['PATH'], ...withoutSecret(env) },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      processes.set(role, child)
      if (role === 'api') await untilHealthy(`http://127.0.0.1:${port}/health`, child)
    }
    closers.push(() => Promise.all([...processes.values()].map((child) => end(child, 'SIGTERM'))))
    for (const role of [...ROLES, 'api'] as const) {
      say(role)
      await launch(role)
    }
    return {
      url: `http://127.0.0.1:${port}`,
      facts: clickhouseFacts(connection, { nowMs: Date.now }),
      ga4,
      restart: async (role) => {
        const child = processes.get(role)
        if (child !== undefined) await end(child, 'SIGKILL')
        await launch(role)
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function migrateAll(kafkaUrl: string, connection: ReturnType<typeof openClickHouse>): Promise<void> {
  const parsed = parseKafkaUrl(kafkaUrl)
  if (!parsed.ok) throw new Error(`the event log's address ${parsed.why}`)
  await checkKafkaTopics(parsed.value, { canCreate: true })
  await migrate(connection)
}

/** The roles of the delivery side sign nothing and read no receipts. */
function withoutSecret(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'WHENCE_SECRET'))
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries++) {
    if (child.exitCode !== null) throw new Error(`the api ended with ${child.exitCode}`)
    try {
      await fetch(url)
      return
    } catch {
      await wait(READY_PAUSE_MS)
    }
  }
  throw new Error('the api did not start')
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}
