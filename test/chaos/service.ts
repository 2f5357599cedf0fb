/** The distributed service at its full size: three brokers, Redis, ClickHouse, two processes of each role, and two providers. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGa4StandIn, type Ga4StandIn } from '../../stand-ins/ga4.ts'
import { startMetaStandIn } from '../../stand-ins/meta.ts'
import type { StandInServer } from '../../stand-ins/server.ts'
import { kafkaEventLog } from '../../ports/event-log/kafka/kafka.ts'
import type { EventLog } from '../../ports/event-log/event-log.ts'
import { clickhouseFacts } from '../../ports/facts/clickhouse.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import { startEngines, type Engines } from '../../fixtures/engines/engines.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import type { KafkaCluster } from '../../fixtures/engines/kafka-cluster.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import { TEST_SECRET } from '../../fixtures/service/service.ts'
import { startLinks, type Links } from '../../fixtures/engines/toxiproxy.ts'
import type { Api } from './client.ts'
import { CHAOS_MANIFESTS } from './manifests.ts'

export const DELIVERY_ROLES = ['facts-writer', 'state', 'dispatch', 'ga4', 'meta'] as const
/** One api keeps a spool and one does not; of every other role there are two. */
export const PROCESS_NAMES = [
  'api with spool',
  'api without spool',
  ...DELIVERY_ROLES.flatMap((role) => [`${role} 1`, `${role} 2`] as const),
] as const
export type ProcessName = (typeof PROCESS_NAMES)[number]

/** A process lost sight of Redis for a while; both in Unix ms. */
export interface Alone {
  readonly process: ProcessName
  readonly beganMs: number
  endedMs: number
}

/** Unix ms. */
export interface Doubt {
  readonly process: ProcessName
  readonly atMs: number
}

export interface ChaosService {
  readonly apis: readonly [Api, Api]
  readonly engines: Engines
  readonly cluster: KafkaCluster
  readonly links: Links
  readonly facts: Facts
  readonly eventLog: EventLog
  readonly ga4: Ga4StandIn
  readonly meta: StandInServer
  readonly folder: string
  /** When processes went on without Redis, as they said so themselves. */
  readonly alone: readonly Alone[]
  /** When processes could not find out whether an event had been reported before, as they said so themselves. */
  readonly doubts: readonly Doubt[]
  /** Unrequested or unclean ends, with the last output of the process. */
  readonly badEnds: readonly string[]
  readonly program: (name: ProcessName) => Program
  /** Resolves with its exit code or signal when it has ended. */
  readonly end: (name: ProcessName, signal: 'SIGKILL' | 'SIGTERM') => Promise<number | string>
  /** Of another release if its folder is given. Resolves when it works. */
  readonly start: (name: ProcessName, release?: string) => Promise<void>
  readonly stop: () => Promise<void>
}

export interface ChaosOptions {
  readonly jars: string
  /** Of toxiproxy. */
  readonly linkProgram: string
  readonly onProgress?: (what: string) => void
  /** `broker.session.timeout.ms` of the brokers. */
  readonly sessionMs?: number | undefined
}

const KEEP_HITS = 10_000_000
/** Written as they are, so that a search of its file finds what is in it. */
const REDIS_SETTINGS = ['rdbcompression no']

export async function startChaosService(options: ChaosOptions): Promise<ChaosService> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const folder = await mkdtemp(join(tmpdir(), 'whence-chaos-'))
    closers.push(() => rm(folder, { recursive: true, force: true }))
    const links = await startLinks(options.linkProgram)
    closers.push(() => links.stop())
    const { jars, sessionMs, onProgress = () => undefined } = options
    const settings = { isCluster: true, sessionMs, redisSettings: REDIS_SETTINGS }
    const engines = await startEngines({ jars, links, onProgress, ...settings })
    closers.push(() => engines.stop())
    const { cluster } = engines
    if (cluster === null) throw new Error('there is no cluster')
    const ga4 = await startGa4StandIn({ port: 0, keep: KEEP_HITS })
    closers.push(() => ga4.close())
    const meta = await startMetaStandIn({ port: 0, keep: KEEP_HITS })
    closers.push(() => meta.close())
    const eventLog = await kafkaEventLog(engines.kafkaSettings)
    closers.push(() => eventLog.close())
    const manifests = join(folder, 'manifests')
    await mkdir(manifests)
    await writeFile(join(manifests, 'chaos.yaml'), CHAOS_MANIFESTS)
    onProgress('two processes of each role')
    const providers = { WHENCE_GA4_URL: ga4.url, WHENCE_META_URL: meta.url }
    const processes = await launcher(folder, { ...engines.env, ...providers, WHENCE_MANIFESTS: manifests })
    closers.push(() => processes.stop())
    await Promise.all(PROCESS_NAMES.map((name) => processes.start(name)))
    const facts = clickhouseFacts(engines.connection, { nowMs: Date.now })
    return { ...processes, engines, cluster, links, facts, eventLog, ga4, meta, folder, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Shared = Pick<ChaosService, 'apis' | 'alone' | 'doubts' | 'badEnds' | 'program' | 'end' | 'start' | 'stop'>

async function launcher(folder: string, env: Readonly<Record<string, string>>): Promise<Shared> {
  const apis = [
    { name: 'api with spool', url: `http://127.0.0.1:${await freePort()}` },
    { name: 'api without spool', url: `http://127.0.0.1:${await freePort()}` },
  ] as const
  const programs = new Map<ProcessName, Program>()
  const ending = new Set<Program>()
  const alone: Alone[] = []
  const doubts: Doubt[] = []
  const badEnds: string[] = []
  const start: ChaosService['start'] = async (name, release) => {
    const { words, own } = commandOf(name, folder, apis)
    const onLine = (line: string): void => {
      noteAlone(alone, name, line)
      if (line.includes(IN_DOUBT)) doubts.push({ process: name, atMs: Date.now() })
    }
    const settings = { WHENCE_METRICS_LISTEN: '127.0.0.1:0', ...env, ...own }
    const program = startProgram(words, { env: settings, onLine, ...(release === undefined ? {} : { release }) })
    programs.set(name, program)
    const ended = (how: unknown): void => {
      endAlone(alone, name)
      if (!ending.has(program)) badEnds.push(`${name} ended by itself (${String(how)}): ${lastWords(program)}`)
    }
    program.ended.then(ended, ended)
    await program.ready
  }
  const end: ChaosService['end'] = async (name, signal) => {
    const program = programs.get(name)
    if (program === undefined) throw new Error(`no ${name} runs`)
    ending.add(program)
    const how = await program.end(signal)
    if (signal === 'SIGTERM' && how !== 0)
      badEnds.push(`${name} ended with ${how} after SIGTERM: ${lastWords(program)}`)
    return how
  }
  const program = (name: ProcessName): Program => {
    const one = programs.get(name)
    if (one === undefined) throw new Error(`no ${name} runs`)
    return one
  }
  const stop = async (): Promise<void> =>
    void (await Promise.all([...programs.keys()].map((name) => end(name, 'SIGTERM'))))
  return { apis, alone, doubts, badEnds, start, end, program, stop }
}

const lastWords = (program: Program): string => program.stderr().slice(-2_000)

function commandOf(name: ProcessName, folder: string, apis: readonly [Api, Api]) {
  const api = apis.find((one) => one.name === name)
  if (api === undefined) {
    return { words: ['delivery', '--role', name.split(' ')[0] ?? ''], own: {} }
  }
  // Every call comes from an address of its own, as behind a proxy: limits are not what is tried.
  const own = { WHENCE_SECRET: TEST_SECRET, WHENCE_TRUST_PROXY: '127.0.0.1/32' }
  const spool = name === 'api with spool' ? { WHENCE_SPOOL: join(folder, 'spool') } : {}
  return { words: ['api', '--listen', new URL(api.url).host], own: { ...own, ...spool } }
}

/** As `api/collection/repeats/earlier-report.ts` says it. */
const IN_DOUBT = 'an earlier report of an event could not be looked up'

function noteAlone(alone: Alone[], process: ProcessName, line: string): void {
  if (line.includes('hot state unavailable')) alone.push({ process, beganMs: Date.now(), endedMs: Infinity })
  else if (line.includes('hot state reachable')) endAlone(alone, process)
}

function endAlone(alone: Alone[], process: ProcessName): void {
  for (const one of alone) if (one.process === process) one.endedMs = Math.min(one.endedMs, Date.now())
}
