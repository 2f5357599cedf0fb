/** Starts the process of one Kafka broker and says when it takes requests; what a single broker and a cluster share. */

import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import kafkajs from 'kafkajs'

import { mendKafkajs } from '../../ports/event-log/kafka/patches.ts'

const run = promisify(execFile)
const START_MS = 120_000
const POLL_MS = 50
const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qg'
/** Compiled little: brokers of tests live for seconds and share the machine. */
const JAVA = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']

export interface BrokerPlan {
  /** Holds `server.properties`, the data and the broker's log. */
  readonly folder: string
  readonly jars: string
  readonly heapMegabytes: number
  /** Of a listener without authentication. */
  readonly port: number
  /** The broker takes requests when it lists this one. */
  readonly nodeId: number
  /** Its own process group: Ctrl-C in a terminal reaches only the process that started it. */
  readonly isDetached: boolean
}

export interface BrokerProcess {
  pid(): number
  isRunning(): boolean
  /** SIGSTOP: the process keeps its connections and answers nothing. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again on the same ports and data; resolves when it takes requests. */
  restart(): Promise<void>
}

/** Writes `server.properties` and formats the data folder that it names. `words` are added to those of `kafka-storage format`. */
export async function formatBroker(
  plan: BrokerPlan,
  settings: Readonly<Record<string, string>>,
  words: readonly string[],
): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await mkdir(plan.folder, { recursive: true })
  await writeFile(settingsFile(plan), lines.join(''), { mode: 0o600 })
  const format = ['format', '-t', CLUSTER_ID, '-c', settingsFile(plan), ...words]
  await run('java', [...javaWords(plan), 'kafka.tools.StorageTool', ...format], { timeout: START_MS })
}

/** Resolves when the broker takes requests. */
export async function startBroker(plan: BrokerPlan): Promise<BrokerProcess> {
  let child = await startProcess(plan)
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  return {
    isRunning,
    pid: () => child.pid ?? 0,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: async () => {
      if (!isRunning()) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
    restart: async () => void (child = await startProcess(plan)),
  }
}

async function startProcess(plan: BrokerPlan): Promise<ChildProcess> {
  const logFile = join(plan.folder, 'broker.log')
  const output = openSync(logFile, 'w')
  const words = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', ...javaWords(plan), 'kafka.Kafka', settingsFile(plan)]
  const child = spawn('java', words, {
    stdio: ['ignore', output, output],
    detached: plan.isDetached,
    env: { ...process.env, LOG_DIR: plan.folder },
  })
  // A test run that is broken off must not leave a broker behind.
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  const endAtMs = Date.now() + START_MS
  while (!(await takesRequests(plan))) {
    if (child.exitCode !== null || Date.now() > endAtMs) {
      child.kill('SIGKILL')
      throw new Error(`the Kafka broker did not start:\n${(await readFile(logFile, 'utf8')).slice(-4_000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return child
}

/** True when the broker has joined its cluster: before, it accepts connections and does not list itself. */
async function takesRequests({ port, nodeId }: BrokerPlan): Promise<boolean> {
  mendKafkajs()
  const brokers = [`127.0.0.1:${port}`]
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 0 } }).admin()
  try {
    await admin.connect()
    const cluster = await admin.describeCluster()
    return cluster.brokers.some((broker) => broker.nodeId === nodeId)
  } catch {
    return false
  } finally {
    await admin.disconnect().catch(() => undefined)
  }
}

function javaWords({ heapMegabytes, jars }: BrokerPlan): readonly string[] {
  return [`-Xmx${heapMegabytes}m`, '-Xms64m', ...JAVA, '-cp', join(jars, '*')]
}

function settingsFile({ folder }: BrokerPlan): string {
  return join(folder, 'server.properties')
}
