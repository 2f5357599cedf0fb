/** Starts a real Kafka 4.1.1 broker (KRaft, one node) on free loopback ports in a temporary folder, and ends it again. */

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { freePorts } from './free-port.ts'
import { formatBroker, startBroker, type BrokerProcess } from './kafka-process.ts'

const run = promisify(execFile)
const FETCH = join(import.meta.dirname, 'kafka-jars', 'fetch.sh')
const HEAP_MEGABYTES = 384
const NODE_ID = 1

export const KAFKA_USER = { username: 'alice', password: 'a secret:with@signs' }

export interface KafkaBroker extends BrokerProcess {
  /** `host:port` without authentication. */
  readonly plain: string
  /** `host:port` without authentication, through the proxy of `linkTo`; the same as `plain` without one. */
  readonly linked: string
  /** `host:port` with SASL (PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512), without TLS. */
  readonly sasl: string
  /** `host:port` with TLS. */
  readonly tls: string
  /** Holds its data. */
  readonly folder: string
  /** PEM file that the TLS listener's certificate is checked against. */
  readonly caFile: string
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

/**
 * Null if Java or Maven is missing, unless CI=true: then that is an error. The first call fetches the jars and calls
 * `onProgress` with each line.
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
  /** Its own process group: Ctrl-C in a terminal reaches only the process that started it. */
  readonly isDetached?: boolean
  /**
   * Called with the port of one more listener, without authentication: resolves with the port at which clients reach
   * it, which is a proxy's. `linked` then names that one.
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
  const plan = { folder, jars, heapMegabytes: HEAP_MEGABYTES, port: plain, nodeId: NODE_ID, isDetached }
  const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${KAFKA_USER.username},password="${KAFKA_USER.password}"]`,
  ])
  await formatBroker(plan, properties(folder, { plain, sasl, tls, controller, link, linked }), [
    '--standalone',
    ...scram,
  ])
  const broker = await startBroker(plan)
  return {
    ...broker,
    plain: `127.0.0.1:${plain}`,
    linked: `127.0.0.1:${options.linkTo === undefined ? plain : linked}`,
    sasl: `127.0.0.1:${sasl}`,
    tls: `127.0.0.1:${tls}`,
    caFile,
    folder,
    stop: () => broker.kill().then(() => rm(folder, { recursive: true, force: true })),
  }
}

interface Ports {
  readonly plain: number
  readonly sasl: number
  readonly tls: number
  readonly controller: number
  readonly link: number
  /** The port of `link` that clients use. */
  readonly linked: number
}

function properties(
  folder: string,
  { plain, sasl, tls, controller, link, linked }: Ports,
): Readonly<Record<string, string>> {
  const jaas = `username="${KAFKA_USER.username}" password="${KAFKA_USER.password}"`
  const plainLogin = `org.apache.kafka.common.security.plain.PlainLoginModule required ${jaas}`
  const listeners = [`PLAINTEXT://127.0.0.1:${plain}`, `SASL://127.0.0.1:${sasl}`, `TLS://127.0.0.1:${tls}`]
  const addresses = [...listeners, `LINKED://127.0.0.1:${link}`, `CONTROLLER://127.0.0.1:${controller}`]
  return {
    'process.roles': 'broker,controller',
    'node.id': String(NODE_ID),
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
