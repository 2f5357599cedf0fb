/**
 * What `reads-beside-installs.ts` measures: the embedded program, and the same as a cluster of processes. Both have the facts of `make scale` and
 * the objects of many organisations.
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'

import { startEngines, type Engines } from '../../fixtures/engines/engines.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { startProgram, type Program } from '../../fixtures/service/programs.ts'
import type { Manifest } from '../../fixtures/service/manifests.ts'
import { openChdb } from '../../ports/facts/engine/connect-chdb.ts'
import { apiOptions, dashboardOptions, operatorOptions } from '../support/chart-options.ts'
import { organizationObjects, writeOrganizations } from '../support/dashboard-people.ts'
import { fillRedis } from '../support/filled-redis.ts'
import { startEmbedded, startPinned, stop, waitFor } from '../support/http-load.ts'
import { SCALE_SECRET, scaleObjects, writeScaleObjects } from '../support/scale-facts.ts'
import { clusterSettings } from './cluster-settings.ts'

export interface ReadTarget {
  /** Ports of what takes install events, and of what people read from. */
  readonly collection: number
  readonly dashboard: number
  /** Data folder of the process that signs people in. */
  readonly data: string
  /** Of the process that has core 0 to itself; absent if several share it. */
  readonly pid?: number | undefined
  readonly stop: () => Promise<void>
}

export interface TargetOptions {
  /** Empty; holds what is made. */
  readonly folder: string
  /** Folder of tables, as chDB keeps them; it is copied. */
  readonly tables: string
  readonly organizations: number
  /** Further objects of the embedded program. */
  readonly objects?: readonly Manifest[]
}

/** The program on core 0. */
export async function embeddedTarget({
  folder,
  tables,
  organizations,
  objects = [],
}: TargetOptions): Promise<ReadTarget> {
  const manifests = join(folder, 'manifests')
  const data = join(folder, 'data')
  await writeOrganizations(manifests, organizations)
  await writeScaleObjects(manifests)
  await writeFile(join(manifests, 'further.yaml'), objects.map((each) => JSON.stringify(each)).join('\n---\n'))
  await copyTables(tables, join(data, 'chdb'))
  const port = await freePort()
  const child = startEmbedded(port, { folder, manifests })
  await waitFor(`http://127.0.0.1:${port}/health`)
  return { collection: port, dashboard: port, data, pid: child.pid, stop: () => stop(child) }
}

/** The program on both cores; what loads it has one of them, too. */
export async function bothCoresTarget(options: TargetOptions): Promise<ReadTarget> {
  const { pid, ...target } = await embeddedTarget(options)
  spawnSync('taskset', ['-acp', '0,1', String(pid)])
  return target
}

/** Without the replays of `make scale`, which were only asked for: they would be worked off meanwhile. */
async function copyTables(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true })
  const connection = await openChdb(to)
  await connection.command('TRUNCATE TABLE decision_replays')
  await connection.close()
}

/** Its work is on the way of an install event, or behind it. */
const ROLES = ['facts-writer', 'state', 'dispatch', 'rollup'] as const
const NAMESPACE = 'default'

/**
 * `api`, Kafka and Redis on core 0. The dashboard, the roles of the delivery side, ClickHouse and the API server are on core 1, where they give way
 * to the load: in a cluster they are on other machines.
 */
export async function distributedTarget(options: TargetOptions): Promise<ReadTarget> {
  const jars = await kafkaJars()
  const tools = await kubeTools()
  if (jars === null || tools === null) throw new Error('not measured: Kafka and kube-apiserver are needed')
  const closers: (() => Promise<unknown>)[] = []
  const end = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const kube = await startKube(tools)
    closers.push(() => kube.stop())
    const engines = await onCore('0', () => startEngines({ jars, partitions: 12, database: 'default' }))
    closers.push(() => engines.stop())
    await fillRedis(engines)
    await fillServer(engines, options.tables)
    const objects = [
      ...scaleObjects(),
      ...Array.from({ length: options.organizations }, (_, place) => organizationObjects(place)).flat(),
    ]
    const cluster = await clusterSettings(kube, { folder: options.folder, namespace: NAMESPACE, objects })
    const env = { ...engines.env, ...cluster, WHENCE_METRICS_LISTEN: '127.0.0.1:0', WHENCE_LOG_LEVEL: 'info' }
    return { ...(await startPrograms(options.folder, env, closers)), stop: end }
  } catch (error) {
    await end()
    throw error
  }
}

/** What `act` starts runs on this core. */
async function onCore<T>(core: string, act: () => Promise<T>): Promise<T> {
  const pin = (to: string): void => void spawnSync('taskset', ['-cp', to, String(process.pid)])
  pin(core)
  try {
    return await act()
  } finally {
    pin('1')
  }
}

/** Of nice, where 0 is the usual one. */
const LATER = 10

/** All of its threads; those to come do as those that start them. */
function giveWay(pid: number): void {
  spawnSync('taskset', ['-acp', '1', String(pid)])
  for (const thread of readdirSync(`/proc/${pid}/task`)) setPriority(Number(thread), getPriority() + LATER)
}

/** chDB keeps its tables in the database `default`. */
async function fillServer({ clickhouse }: Engines, tables: string): Promise<void> {
  await clickhouse.end()
  const data = join(clickhouse.folder, 'data')
  await rm(data, { recursive: true, force: true })
  await copyTables(tables, data)
  await clickhouse.restart()
  giveWay(clickhouse.pid)
}

type Env = Readonly<Record<string, string>>

async function startPrograms(
  folder: string,
  env: Env,
  closers: (() => Promise<unknown>)[],
): Promise<Omit<ReadTarget, 'stop'>> {
  const collection = await freePort()
  const dashboard = await freePort()
  const data = join(folder, 'dashboard')
  const keyed = { ...env, WHENCE_SECRET: SCALE_SECRET }
  const besides = (words: readonly string[], own: Env): Program => {
    const program = startProgram(words, { env: own })
    closers.push(() => program.end('SIGTERM'))
    giveWay(program.pid)
    return program
  }
  const operator = { ...keyed, NODE_OPTIONS: operatorOptions(), WHENCE_BASE_URL: 'https://whence.example' }
  // It says nothing of being ready: `api` and the roles wait for the catalog that it writes.
  besides(['operator'], operator)
  const words = ['bin/whencectl.ts', 'api', '--listen', `127.0.0.1:${collection}`, '--data', join(folder, 'api')]
  const quiet = { WHENCE_LOG_LEVEL: 'warn', NODE_OPTIONS: apiOptions() }
  const api = startPinned(words, { ...keyed, ...quiet })
  closers.push(() => stop(api))
  await waitFor(`http://127.0.0.1:${collection}/health`)
  for (const role of ROLES) await besides(['delivery', '--role', role], env).ready
  const people = ['dashboard', '--listen', `127.0.0.1:${dashboard}`, '--data', data]
  await besides(people, { ...keyed, NODE_OPTIONS: dashboardOptions() }).ready
  return { collection, dashboard, data }
}
