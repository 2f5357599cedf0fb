/**
 * How long a website that is saved in the dashboard takes until collection uses it: from the request of the save until the api's
 * browser-config shows it, polled every 5 ms. Once in the embedded program, once with `dashboard`, `operator` and `api` as processes on
 * a real kube-apiserver, Kafka and Redis. The programs run on core 0, everything else on core 1.
 *
 * Use: node bench/dashboard/dashboard-saves.ts [websites] [saves] [embedded|cluster]
 */

import { spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { startEngines } from '../../fixtures/engines/engines.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { apiOptions, dashboardOptions, operatorOptions } from '../support/chart-options.ts'
import {
  emailOf,
  organizationName,
  organizationObjects,
  ownPage,
  signInAll,
  WEBSITES_EACH,
  writeOrganizations,
} from '../support/dashboard-people.ts'
import { bareRate, cpuSeconds, startEmbedded, startPinned, stop, waitFor } from '../support/http-load.ts'
import { at } from '../support/operator-figures.ts'
import { needTools } from '../support/rounds.ts'
import { clusterSettings } from './cluster-settings.ts'

const [websites = 1_000, saves = 300] = process.argv.slice(2, 4).map(Number)
const only = process.argv[4]
const ORGANIZATIONS = Math.ceil(websites / WEBSITES_EACH)
const NAMESPACE = 'sites'
const GOAL_MS = 500
const LOOK_MS = 5
const PAUSE_MS = 100
/** Saves that are not counted: a program that has just started compiles more slowly. */
const WARM_UP = 20
const PATIENCE_MS = 30_000
const OWN_ENV = { WHENCE_SECRET: 'only-for-measuring-only-for-measuring', WHENCE_LOG_LEVEL: 'warn' }
const PROVIDERS = [['ga4'], ['ga4', 'meta']] as const

needTools('taskset', 'java', 'redis-server')
spawnSync('taskset', ['-cp', '1', String(process.pid)])
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-saves-'))
const bare = await bareRate(folder)
try {
  if (only !== 'cluster') await measureEmbedded()
  if (only !== 'embedded') await measureCluster()
} finally {
  await rm(folder, { recursive: true, force: true })
}

interface Target {
  readonly name: string
  readonly dashboard: string
  readonly collection: string
  /** Data folder of the process that signs people in. */
  readonly data: string
  readonly organization: string
  readonly namespace: string
  /** Of the program that does all of it; absent if several share it. */
  readonly pid?: number | undefined
}

async function measureEmbedded(): Promise<void> {
  const manifests = join(folder, 'manifests')
  await writeOrganizations(manifests, ORGANIZATIONS)
  const port = await freePort()
  const words = ['--dashboard-folder', join(folder, 'written')]
  const child = startEmbedded(port, { folder, manifests, words })
  const url = `http://127.0.0.1:${port}`
  try {
    await waitFor(`${url}/health`)
    const place = { data: join(folder, 'data'), organization: organizationName(0), namespace: 'default' }
    await measure({ name: 'embedded', dashboard: url, collection: url, pid: child.pid, ...place })
  } finally {
    await stop(child)
  }
}

async function measureCluster(): Promise<void> {
  const jars = await kafkaJars()
  const tools = await kubeTools()
  if (jars === null || tools === null) throw new Error('not measured: Kafka and kube-apiserver are needed')
  const kube = await startKube(tools)
  const engines = await startEngines({ jars })
  const children: ChildProcess[] = []
  try {
    const objects = Array.from({ length: ORGANIZATIONS }, (_, place) => organizationObjects(place)).flat()
    const env = {
      ...engines.env,
      ...(await clusterSettings(kube, { folder, namespace: NAMESPACE, objects })),
      ...OWN_ENV,
    }
    const port = await freePort()
    const apiPort = await freePort()
    const start = (words: readonly string[], own: Readonly<Record<string, string>>): void =>
      void children.push(
        startPinned(['bin/whencectl.ts', ...words, '--metrics-listen', '127.0.0.1:0'], { ...env, ...own }),
      )
    const data = join(folder, 'dashboard')
    start(['operator'], { NODE_OPTIONS: operatorOptions(), WHENCE_BASE_URL: 'https://whence.example' })
    start(['api', '--listen', `127.0.0.1:${apiPort}`, '--data', join(folder, 'api')], { NODE_OPTIONS: apiOptions() })
    start(['dashboard', '--listen', `127.0.0.1:${port}`, '--data', data], { NODE_OPTIONS: dashboardOptions() })
    const [dashboard, collection] = [port, apiPort].map((each) => `http://127.0.0.1:${each}`) as [string, string]
    await waitFor(`${dashboard}/api/sign-in`)
    await waitFor(`${collection}/health`)
    const organization = `${NAMESPACE}/${organizationName(0)}`
    await measure({ name: 'cluster', dashboard, collection, data, organization, namespace: NAMESPACE })
  } finally {
    for (const child of children) await stop(child)
    await engines.stop()
    await kube.stop()
  }
}

async function measure(target: Target): Promise<void> {
  const [cookie = ''] = await signedIn(target)
  const kind = `${target.dashboard}/api/organizations/${encodeURIComponent(target.organization)}/resources/Website`
  const spec = { primaryOrigin: 'https://saved.example', providers: PROVIDERS[0] }
  await sent('POST', kind, { cookie, place: 0, body: { name: 'saved', spec } })
  await live(target, PROVIDERS[0], 0)
  const object = `${kind}/${target.namespace}/saved`
  const times: number[] = []
  const answered: number[] = []
  let cpuBeforeS = Number.NaN
  for (let save = 1 - WARM_UP; save <= saves; save += 1) {
    if (save === 1) cpuBeforeS = cpuSeconds(target.pid)
    const providers = PROVIDERS[Math.abs(save + WARM_UP) % PROVIDERS.length] ?? PROVIDERS[0]
    const { etag, body } = await stored(object, cookie, save + WARM_UP)
    const startedMs = performance.now()
    await sent('PUT', object, { cookie, place: save + WARM_UP, body: { spec: { ...body, providers } }, etag })
    const answeredMs = performance.now()
    await live(target, providers, save + WARM_UP)
    if (save > 0) {
      times.push(performance.now() - startedMs)
      answered.push(answeredMs - startedMs)
    }
    await wait(PAUSE_MS)
  }
  const cpuMs = ((cpuSeconds(target.pid) - cpuBeforeS) * 1_000) / saves
  tell(target.name, sorted(times), sorted(answered))
  if (!Number.isNaN(cpuMs))
    console.log(`  processor time of the program, its reads included: ${cpuMs.toFixed(0)} ms each`)
}

/** The directory may not know the members yet. */
async function signedIn({ dashboard, data, organization }: Target): Promise<readonly string[]> {
  const cookies = await signInAll(dashboard, data, [emailOf(0)])
  const path = `${dashboard}/api/organizations/${encodeURIComponent(organization)}`
  const endsAtMs = performance.now() + PATIENCE_MS
  while (!(await fetch(path, { headers: ownPage(cookies[0] ?? '', 0) })).ok) {
    if (performance.now() > endsAtMs) throw new Error('the owner is not a member')
    await wait(PAUSE_MS)
  }
  return cookies
}

interface Sent {
  readonly cookie: string
  /** Of the client address. */
  readonly place: number
  readonly body: object
  readonly etag?: string
}

async function sent(method: 'POST' | 'PUT', url: string, { cookie, place, body, etag }: Sent): Promise<void> {
  const match = etag === undefined ? {} : { 'If-Match': etag }
  const headers = { ...ownPage(cookie, place), 'Content-Type': 'application/json', ...match }
  const told = await fetch(url, { method, headers, body: JSON.stringify(body) })
  if (!told.ok) throw new Error(`${method} ${url}: ${told.status} ${await told.text()}`)
}

async function stored(url: string, cookie: string, place: number) {
  const told = await fetch(url, { headers: ownPage(cookie, place) })
  const { spec } = (await told.json()) as { readonly spec: object }
  return { etag: told.headers.get('etag') ?? '', body: spec }
}

async function live({ collection }: Target, providers: readonly string[], place: number): Promise<void> {
  const endsAtMs = performance.now() + PATIENCE_MS
  const address = `203.${place >> 8}.${place & 255}.1`
  for (;;) {
    const told = await fetch(`${collection}/v1/projects/saved/browser-config`, {
      headers: { 'X-Forwarded-For': address },
    })
    const config = told.ok ? ((await told.json()) as { readonly providers: readonly string[] }) : null
    if (!told.ok) await told.arrayBuffer()
    if (config?.providers.join() === providers.join()) return
    if (performance.now() > endsAtMs) throw new Error('a save is not in force')
    await wait(LOOK_MS)
  }
}

function sorted(times: readonly number[]): readonly number[] {
  return times.toSorted((a, b) => a - b)
}

/** `answered`: until the save itself was answered, when it is on disk. */
function tell(name: string, times: readonly number[], answered: readonly number[]): void {
  const p99 = at(times, 0.99)
  const figures = [times, answered].map(
    (each) =>
      `p50 ${at(each, 0.5).toFixed(0)} ms, p99 ${at(each, 0.99).toFixed(0)} ms, most ${at(each, 1).toFixed(0)} ms`,
  )
  const machine = `load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s`
  console.log(`${name}: saved to in force with ${websites} websites: ${figures[0]} of ${times.length} (${machine})`)
  console.log(`  of that until the save was answered: ${figures[1]}`)
  console.log(`  p99 under ${GOAL_MS} ms: ${p99 < GOAL_MS ? 'reached' : 'MISSED'}`)
  if (p99 >= GOAL_MS) process.exitCode = 1
}
