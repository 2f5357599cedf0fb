/** Starts a real Kafka 4.1.1 broker (KRaft, one node) on free loopback ports in a temporary folder, and ends it again. */

import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import kafkajs from 'kafkajs'

import { mendKafkajs } from '../../ports/event-log/kafka-patches.ts'
import { freePorts } from './free-port.ts'

const run = promisify(execFile)
const FETCH = join(import.meta.dirname, 'kafka-jars', 'fetch.sh')
const START_MS = 60_000
/** Small, and compiled little: brokers of tests live for seconds and share the machine. */
const JAVA = ['-Xmx384m', '-Xms128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto']

export const KAFKA_USER = { username: 'alice', password: 'a secret:with@signs' }

export interface KafkaBroker {
  /** `host:port` without authentication. */
  readonly plain: string
  /** `host:port` without authentication, through the proxy of `linkTo`; the same as `plain` without one. */
  readonly linked: string
  /** `host:port` with SASL (PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512), without TLS. */
  readonly sasl: string
  /** `host:port` with TLS. */
  readonly tls: string
  /** PEM file that the TLS listener's certificate is checked against. */
  readonly caFile: string
  readonly pid: number
  /** SIGSTOP: the process keeps its connections and answers nothing. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again on the same ports and data; resolves when it takes requests. */
  restart(): Promise<void>
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

/**
 * Null where Java or Maven is missing, unless CI=true: then that is an error. The first call fetches the jars;
 * `onProgress` is told so line by line.
 */
export async function kafkaJars(onProgress: (line: string) => void = () => undefined): Promise<string | null> {
  try {
    const fetching = run(FETCH, [], { timeout: 300_000 })
    fetching.child.stderr?.on('data', (text: string) => onProgress(text.trimEnd()))
    const { stdout } = await fetching
    return stdout.trim()
  } catch (error) {
    const why = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
    if (process.env['CI'] === 'true') throw new Error(`the Kafka broker cannot be had: ${why}`, { cause: error })
    console.error(why)
    return null
  }
}

export interface KafkaOptions {
  /** Its own process group: Ctrl-C in a terminal reaches only whoever started it. */
  readonly isDetached?: boolean
  /**
   * Told the port of one more listener, without authentication: resolves with the port at which clients are to reach it,
   * which is a proxy's. `linked` then names that one.
   */
  readonly linkTo?: (port: number) => Promise<number>
}

/** `jars` is the folder from `kafkaJars`. */
export async function startKafka(jars: string, options: KafkaOptions = {}): Promise<KafkaBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-kafka-'))
  try {
    return await startIn(folder, jars, options)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(folder: string, jars: string, options: KafkaOptions): Promise<KafkaBroker> {
  const { isDetached = false, linkTo = (port: number) => Promise.resolve(port) } = options
  const [plain = 0, sasl = 0, tls = 0, controller = 0, link = 0] = await freePorts(5)
  const linked = await linkTo(link)
  const caFile = await makeCertificate(folder)
  const settingsFile = join(folder, 'server.properties')
  await writeFile(settingsFile, properties(folder, { plain, sasl, tls, controller, link, linked }), { mode: 0o600 })
  await mkdir(join(folder, 'data'))
  const classPath = join(jars, '*')
  const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${KAFKA_USER.username},password="${KAFKA_USER.password}"]`,
  ])
  const format = ['format', '--standalone', '-t', 'MkU3OEVBNTcwNTJENDM2Qg', '-c', settingsFile, ...scram]
  await run('java', [...JAVA, '-cp', classPath, 'kafka.tools.StorageTool', ...format], { timeout: START_MS })
  const words = ['-cp', classPath, 'kafka.Kafka', settingsFile]
  const start = (): Promise<ChildProcess> => startProcess(folder, words, isDetached)
  let child = await start()
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    plain: `127.0.0.1:${plain}`,
    linked: `127.0.0.1:${options.linkTo === undefined ? plain : linked}`,
    sasl: `127.0.0.1:${sasl}`,
    tls: `127.0.0.1:${tls}`,
    caFile,
    get pid() {
      return child.pid ?? 0
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
    restart: async () => void (child = await start()),
    stop: () => kill().then(() => rm(folder, { recursive: true, force: true })),
  }
}

async function startProcess(folder: string, args: readonly string[], isDetached: boolean): Promise<ChildProcess> {
  const logFile = join(folder, 'broker.log')
  const output = openSync(logFile, 'w')
  const child = spawn('java', [...JAVA, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', ...args], {
    stdio: ['ignore', output, output],
    detached: isDetached,
    env: { ...process.env, LOG_DIR: folder },
  })
  // A test run that is broken off must not leave a broker behind.
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  const port = await readFile(join(folder, 'server.properties'), 'utf8')
  const plainPort = Number(/PLAINTEXT:\/\/127\.0\.0\.1:(\d+)/.exec(port)?.[1])
  const endAtMs = Date.now() + START_MS
  while (!(await answers(plainPort))) {
    if (child.exitCode !== null || Date.now() > endAtMs) {
      child.kill('SIGKILL')
      throw new Error(`the Kafka broker did not start:\n${(await readFile(logFile, 'utf8')).slice(-4_000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return child
}

/** True when the broker has joined its own cluster: before, it accepts connections and lists no brokers. */
async function answers(port: number): Promise<boolean> {
  mendKafkajs()
  const brokers = [`127.0.0.1:${port}`]
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 0 } }).admin()
  try {
    await admin.connect()
    const cluster = await admin.describeCluster()
    return cluster.brokers.length > 0
  } catch {
    return false
  } finally {
    await admin.disconnect().catch(() => undefined)
  }
}

interface Ports {
  readonly plain: number
  readonly sasl: number
  readonly tls: number
  readonly controller: number
  readonly link: number
  /** What `link` is told to clients as. */
  readonly linked: number
}

function properties(folder: string, { plain, sasl, tls, controller, link, linked }: Ports): string {
  const jaas = `username="${KAFKA_USER.username}" password="${KAFKA_USER.password}"`
  const plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required ${jaas}`
  const listeners = [`PLAINTEXT://127.0.0.1:${plain}`, `SASL://127.0.0.1:${sasl}`, `TLS://127.0.0.1:${tls}`]
  const addresses = [...listeners, `LINKED://127.0.0.1:${link}`, `CONTROLLER://127.0.0.1:${controller}`]
  const rows = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    listeners: addresses.join(),
    'advertised.listeners': [...listeners, `LINKED://127.0.0.1:${linked}`].join(),
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,LINKED:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controller}`,
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.sasl.plain.sasl.jaas.config': `${plainLogin} user_${KAFKA_USER.username}="${KAFKA_USER.password}";`,
    'listener.name.sasl.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'listener.name.sasl.scram-sha-512.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': join(folder, 'server.pem'),
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': 'false',
    // Tests move the clocks of processes; by default a record from more than an hour ahead is refused.
    'log.message.timestamp.after.max.ms': '9223372036854775807',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'offsets.topic.num.partitions': '1',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
  }
  return `${Object.entries(rows)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`
}

/** A certificate of its own for 127.0.0.1; the broker reads key and certificate from one file. */
async function makeCertificate(folder: string): Promise<string> {
  const [keyFile, caFile] = [join(folder, 'key.pem'), join(folder, 'ca.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  await run('openssl', ['req', ...kind, ...subject, '-keyout', keyFile, '-out', caFile], { timeout: 30_000 })
  const parts = await Promise.all([keyFile, caFile].map((file) => readFile(file, 'utf8')))
  await writeFile(join(folder, 'server.pem'), parts.join(''), { mode: 0o600 })
  return caFile
}
