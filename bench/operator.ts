/**
 * Measures the operator on a real kube-apiserver: `node bench/operator.ts [websites] [changes seconds] [idle minutes]`.
 *
 * Applies 10,000 websites, starts the operator as a separate process and three readers of the catalog like those of an
 * api, and prints: how many statuses a bare loop writes; when the catalog is in force in every reader after a cold
 * start; when every website is Ready, and the status writes for that, from the API server's audit log; how long a
 * change takes from kubectl's request until the last reader has it, at 20 changes a second; what is written while
 * nothing changes; the operator's memory; and how long a rotated Secret and the repair of a deleted object take. The
 * servers share the machine; GOGC controls how eagerly the API server collects garbage (default 400).
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

import { APPLY_TYPE, createKubeClient } from '../runtime/kube/client.ts'
import { catalogParts, readIndex } from '../domain/published/index.ts'
import { INDEX_KEY, indexName } from '../domain/published/place.ts'
import { dataMember } from '../runtime/catalog/members.ts'
import type { KubeObject } from '../runtime/kube/objects.ts'
import { freePort } from '../fixtures/engines/free-port.ts'
import type { AuditEvent } from '../fixtures/engines/kube.ts'
import { kubeTools, startKube } from '../fixtures/engines/kube.ts'
import { ga4Destination, installPath, organization, secret, website } from '../fixtures/service/manifests.ts'
import { startProgram } from '../fixtures/service/programs.ts'
import { operatorOptions } from './support/chart-options.ts'
import { inLanes, statusesPerSecond } from './support/kube-ceiling.ts'
import { at, memoryOf, seconds } from './support/operator-figures.ts'
import { median } from './support/rounds.ts'

const PLACE = { namespace: 'whence', name: 'whence' }
const [websites = 10_000, changesS = 30, idleMinutes = 0.5] = process.argv.slice(2).map(Number)
const PER_ORGANIZATION = 25
const CHANGES_PER_S = 20
const READERS = 3
const REPEATS = 10
const PATIENCE_MS = 240_000
const SITES = '/apis/whence.dev/v1alpha1/namespaces/sites'
const MERGE_TYPE = 'application/merge-patch+json'

interface Sighting {
  readonly atMs: number
  readonly websites?: number
  readonly renamed?: Readonly<Record<string, string>>
  readonly secret?: string
}

interface Reader {
  readonly child: ChildProcess
  liveAtMs: number
  secret: { readonly text: string; readonly atMs: number }
  /** When a name was first seen. */
  readonly seen: Map<string, number>
}

const tools = await kubeTools()
if (tools === null) process.exit(1)
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-operator-'))
const kube = await startKube(tools)
const tokenFile = join(folder, 'token')
await writeFile(tokenFile, kube.adminToken, { mode: 0o600 })
const client = createKubeClient({ url: kube.url, tokenFile, caFile: kube.caFile, userAgent: 'kubectl' }, Date.now)
const metricsPort = await freePort()
const env = {
  WHENCE_KUBE_URL: kube.url,
  WHENCE_KUBE_TOKEN_FILE: tokenFile,
  WHENCE_KUBE_CA_FILE: kube.caFile,
}
const readers: Reader[] = []
try {
  await populate()
  const ceiling = await statusesPerSecond(client, 'bare')
  say(`a bare loop: ${Math.round(ceiling)} first statuses a second`)
  for (let number = 0; number < READERS; number += 1) readers.push(startReader('none'))
  const worker = startReader('ga4')
  readers.push(worker)
  await pause(2_000)
  const startedAtMs = Date.now()
  const operator = startProgram(['operator'], {
    env: {
      NODE_OPTIONS: operatorOptions(),
      ...env,
      WHENCE_CATALOG: 'kubernetes:whence/whence',
      WHENCE_BASE_URL: 'https://whence.example',
      WHENCE_METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      WHENCE_LOG_LEVEL: 'warn',
    },
  })
  try {
    await measureStart(startedAtMs, ceiling)
    await measureChanges()
    await measureRotation(worker)
    await measureRepair()
    await measureIdle()
    const heapBytes = await metric(/^nodejs_heap_size_used_bytes (\S+)$/m)
    const residentMb = memoryOf(operator.pid, 'VmRSS')
    const mostMb = memoryOf(operator.pid, 'VmHWM')
    say(`operator's memory: ${residentMb} MB, at most ${mostMb} MB; heap in use: ${Math.round(heapBytes / 1e6)} MB`)
  } finally {
    await operator.end('SIGTERM')
  }
} finally {
  for (const { child } of readers) child.kill('SIGTERM')
  client.close()
  await kube.stop()
  await rm(folder, { recursive: true, force: true })
}

function say(text: string): void {
  console.log(`${text} (load ${loadavg()[0]?.toFixed(1) ?? ''})`)
}

async function populate(): Promise<void> {
  await kube.installCrds()
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await kube.apply([namespace('whence'), namespace('sites'), namespace('bare')])
  const organizations = Math.ceil(websites / PER_ORGANIZATION)
  const owner = (index: number) => ({ organizationRef: { name: `org-${Math.floor(index / PER_ORGANIZATION)}` } })
  const objects = [
    ...Array.from({ length: organizations }, (_, index) => [
      ['organizations', organization(`org-${index}`)] as const,
      ['installpaths', installPath(`cli-${index}`, { organizationRef: { name: `org-${index}` } })] as const,
    ]).flat(),
    ...Array.from({ length: websites }, (_, index) => ['websites', website(`site-${index}`, owner(index))] as const),
    ['destinations', ga4Destination('ga4', { websiteRef: { name: 'site-0' } })] as const,
  ]
  const beganMs = Date.now()
  await inLanes(objects.values(), async ([plural, body]) => {
    await client.request({ method: 'POST', path: `${SITES}/${plural}`, body })
  })
  await rotate('0')
  console.log(`${objects.length} resources applied in ${seconds(Date.now() - beganMs)}`)
}

function startReader(provider: string): Reader {
  const program = new URL('support/operator-reader.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [program, provider], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const reader: Reader = { child, liveAtMs: 0, secret: { text: '', atMs: 0 }, seen: new Map() }
  createInterface({ input: child.stdout }).on('line', (line) => {
    const sighting = JSON.parse(line) as Sighting
    const { atMs, websites: count = 0, renamed = {} } = sighting
    if (count === websites && reader.liveAtMs === 0) reader.liveAtMs = atMs
    for (const name of Object.values(renamed)) reader.seen.set(name, atMs)
    if (sighting.secret !== undefined) reader.secret = { text: sighting.secret, atMs }
  })
  return reader
}

async function until(what: string, look: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS
  while (!(await look())) {
    if (Date.now() > endMs) throw new Error(`not reached in time: ${what}`)
    await pause(everyMs)
  }
}

async function metric(pattern: RegExp): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => null)
  const match = pattern.exec((await answer?.text()) ?? '')
  return Number(match?.[1] ?? 0)
}

/** `ceiling` in statuses a second. */
async function measureStart(startedAtMs: number, ceiling: number): Promise<void> {
  await until('every reader has the catalog', () => readers.every(({ liveAtMs }) => liveAtMs > 0))
  const liveMs = Math.max(...readers.map(({ liveAtMs }) => liveAtMs)) - startedAtMs
  say(`${websites} websites in force in all readers ${seconds(liveMs)} after a cold start`)
  const written = /^whence_operator_writes_total\{what="Website\/status",result="written"\} (\d+)$/m
  await until('every status is written', async () => (await metric(written)) >= websites, 250)
  const readyMs = Date.now() - startedAtMs
  const list = (await client.request({ method: 'GET', path: `${SITES}/websites` })) as {
    readonly items: readonly {
      readonly status?: { readonly conditions?: readonly { type: string; status: string }[] }
    }[]
  }
  const isReady = ({ status }: (typeof list.items)[number]) =>
    status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true
  const counts = new Map<string, number>()
  for (const { objectRef } of (await ownWrites(startedAtMs)).filter(isStatus('websites'))) {
    const name = objectRef?.name ?? ''
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  say(
    `${list.items.filter(isReady).length} of ${websites} Ready ${seconds(readyMs)} after the start, ` +
      `${(readyMs / 1_000 / (websites / ceiling)).toFixed(2)} times what a bare loop takes, ` +
      `with at most ${Math.max(...counts.values())} status writes each`,
  )
}

async function measureChanges(): Promise<void> {
  const api = readers.slice(0, READERS)
  const sent = new Map<string, number>()
  const requests: Promise<unknown>[] = []
  const [passes, passed] = await passCounts()
  for (let number = 0; number < changesS * CHANGES_PER_S; number += 1) {
    const displayName = `change ${number}`
    sent.set(displayName, Date.now())
    const path = `${SITES}/websites/site-${Math.floor(Math.random() * websites)}`
    requests.push(client.request({ method: 'PATCH', path, body: { spec: { displayName } }, contentType: MERGE_TYPE }))
    await pause(1_000 / CHANGES_PER_S)
  }
  await Promise.all(requests)
  // If a website changes twice within one pass, readers only ever see its later name.
  await until('the last change is seen', () => api.every(({ seen }) => seen.has([...sent.keys()].at(-1) ?? '')))
  const tookMs = [...sent]
    .filter(([name]) => api.every(({ seen }) => seen.has(name)))
    .map(([name, sentAtMs]) => Math.max(...api.map(({ seen }) => seen.get(name) ?? 0)) - sentAtMs)
    .sort((a, b) => a - b)
  const [passesAfter, passedAfter] = await passCounts()
  const passMs = (1_000 * (passedAfter - passed)) / Math.max(1, passesAfter - passes)
  say(
    `change to all ${READERS} readers at ${CHANGES_PER_S} changes a second: p50 ${at(tookMs, 0.5)} ms, p99 ${at(tookMs, 0.99)} ms, ` +
      `at most ${at(tookMs, 1)} ms of ${tookMs.length}; ${passesAfter - passes} passes of ${passMs.toFixed(0)} ms`,
  )
}

async function passCounts(): Promise<readonly [number, number]> {
  const sum = await metric(/^whence_operator_pass_seconds_sum (\S+)$/m)
  return [await metric(/^whence_operator_pass_seconds_count (\d+)$/m), sum]
}

async function rotate(value: string): Promise<void> {
  const body = secret('keys', { ga4: value }, { namespace: 'sites' })
  const path = '/api/v1/namespaces/sites/secrets/keys?fieldManager=bench&force=true'
  await client.request({ method: 'PATCH', path, body, contentType: APPLY_TYPE })
}

async function measureRotation(worker: Reader): Promise<void> {
  const tookMs: number[] = []
  for (let number = 1; number <= REPEATS; number += 1) {
    const value = `rotated ${number}`
    const sentAtMs = Date.now()
    await rotate(value)
    await until('the worker has the new value', () => worker.secret.text === value, 5)
    tookMs.push(worker.secret.atMs - sentAtMs)
  }
  say(`rotated Secret in the worker: median ${median(tookMs)} ms, at most ${Math.max(...tookMs)} ms of ${REPEATS}`)
}

async function measureRepair(): Promise<void> {
  const tookMs: number[] = []
  const base = '/api/v1/namespaces/whence/configmaps'
  for (let number = 0; number < REPEATS; number += 1) {
    const { items } = (await client.request({ method: 'GET', path: base })) as { readonly items: readonly KubeObject[] }
    const names = namesInForce(items)
    const path = `${base}/${names[number % names.length] ?? ''}`
    const sentAtMs = Date.now()
    await client.request({ method: 'DELETE', path })
    const isThere = () =>
      client.request({ method: 'GET', path }).then(
        () => true,
        () => false,
      )
    await until('it is back', isThere, 5)
    tookMs.push(Date.now() - sentAtMs)
  }
  say(
    `deleted part of the catalog is back: median ${median(tookMs)} ms, at most ${Math.max(...tookMs)} ms of ${REPEATS}`,
  )
}

/** The index and the parts it names: the other slot of a part is nobody's, so that nothing brings it back. */
function namesInForce(configMaps: readonly KubeObject[]): readonly string[] {
  const index = configMaps.find(({ metadata }) => metadata.name === indexName(PLACE))
  const parts = catalogParts(readIndex(dataMember(index, 'data', INDEX_KEY) ?? ''), PLACE)
  return [indexName(PLACE), ...parts.map(({ name }) => name)]
}

async function measureIdle(): Promise<void> {
  await pause(3_000)
  const sinceMs = Date.now()
  await pause(idleMinutes * 60_000)
  const writes = await ownWrites(sinceMs)
  const leases = writes.filter(({ objectRef }) => objectRef?.resource === 'leases').length
  say(`${idleMinutes} idle minutes: ${writes.length - leases} writes, and ${leases} of the Lease`)
}

async function ownWrites(sinceMs: number): Promise<readonly AuditEvent[]> {
  return (await kube.audit()).filter(
    ({ userAgent = '', verb, requestReceivedTimestamp }) =>
      userAgent.startsWith('whence-operator') &&
      !['get', 'list', 'watch'].includes(verb) &&
      Date.parse(requestReceivedTimestamp) >= sinceMs,
  )
}

function isStatus(resource: string): (event: AuditEvent) => boolean {
  return ({ objectRef }) => objectRef?.resource === resource && objectRef.subresource === 'status'
}
