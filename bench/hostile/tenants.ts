/**
 * What one tenant's size costs another on a real kube-apiserver: how long an edit of a website takes from kubectl's request until an api
 * has it. First alone; then beside a tenant with 10,000 objects, of which the given number of websites have the largest allowed lists of
 * pages, and 100 destinations have Secrets of a megabyte each; then while that tenant edits all the time; and last with an
 * operator that starts with all of this. Prints medians and maxima, and the memory of the operator.
 *
 * Use: node bench/hostile/tenants.ts [objects] [largest websites] [edits]
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { Registry } from 'prom-client'

import { LIMITS } from '../../domain/limits.ts'
import { openClusterCatalog } from '../../runtime/catalog/cluster-catalog.ts'
import type { CatalogSource } from '../../runtime/catalog/source.ts'
import { createKubeClient } from '../../runtime/kube/client.ts'
import { createKubeMetrics } from '../../runtime/kube/metrics.ts'
import { SILENT_LOGGER } from '../../runtime/logger.ts'
import { kubeTools, startKube } from '../../fixtures/engines/kube.ts'
import { ga4Destination, organization, website, type Manifest } from '../../fixtures/service/manifests.ts'
import { startProgram } from '../../fixtures/service/programs.ts'
import { operatorOptions } from '../support/chart-options.ts'
import { inLanes } from '../support/kube-ceiling.ts'
import { at, memoryOf, seconds } from '../support/operator-figures.ts'
import { median } from '../support/rounds.ts'

const [objects = 10_000, largest = 500, edits = 30] = process.argv.slice(2).map(Number)
const PER_ORGANIZATION = 25
const PER_WEBSITE = 20
const DESTINATIONS = 100
/** The API server takes no larger one. */
const SECRET_BYTES = 1_000_000
const PAUSE_MS = 500
const REST_MS = 10_000
const PATIENCE_MS = 300_000
const PLACE = { namespace: 'whence', name: 'whence' }
const MERGE_TYPE = 'application/merge-patch+json'

const tools = await kubeTools()
if (tools === null) process.exit(1)
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-tenants-'))
const kube = await startKube(tools)
const tokenFile = join(folder, 'token')
await writeFile(tokenFile, kube.adminToken, { mode: 0o600 })
const client = createKubeClient({ url: kube.url, tokenFile, caFile: kube.caFile, userAgent: 'kubectl' }, Date.now)
let reader: CatalogSource | null = null
/** How the operator ended before it was asked to; empty while it runs. */
let operatorEnd = ''
let running: ReturnType<typeof startProgram> | null = null
/** It was asked to end. */
let isOver = false
try {
  await kube.installCrds()
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await kube.apply([namespace('whence'), namespace('small'), namespace('large')])
  await create('small', 'organizations', organization('small'))
  await create('small', 'websites', website('edited', { organizationRef: { name: 'small' } }))
  running = startOperator()
  try {
    reader = await openClusterCatalog({
      watching: { client, metrics: createKubeMetrics(new Registry()), logger: SILENT_LOGGER, random: Math.random },
      place: PLACE,
      holder: null,
      folder,
      patienceMs: PATIENCE_MS,
    })
    await measure('alone')
    const beganMs = Date.now()
    await populate()
    console.log(`${objects} objects of the large tenant applied in ${((Date.now() - beganMs) / 1_000).toFixed(0)} s`)
    await atRest()
    await measure('beside the large tenant')
    const editing = editLargest()
    await measure('while it edits its largest websites')
    await editing.stop()
    isOver = true
    await running.end('SIGTERM')
    isOver = false
    operatorEnd = ''
    const restartedMs = performance.now()
    running = startOperator()
    await measure('after the operator began again', restartedMs)
    await atRest()
  } finally {
    isOver = true
    await running?.end('SIGTERM')
  }
} finally {
  await reader?.close()
  client.close()
  await kube.stop()
  await rm(folder, { recursive: true, force: true })
}

function startOperator(): ReturnType<typeof startProgram> {
  const operator = startProgram(['operator'], {
    env: {
      NODE_OPTIONS: operatorOptions(),
      WHENCE_KUBE_URL: kube.url,
      WHENCE_KUBE_TOKEN_FILE: tokenFile,
      WHENCE_KUBE_CA_FILE: kube.caFile,
      WHENCE_CATALOG: 'kubernetes:whence/whence',
      WHENCE_BASE_URL: 'https://whence.example',
      WHENCE_METRICS_LISTEN: '127.0.0.1:0',
      WHENCE_LOG_LEVEL: 'warn',
    },
  })
  operator.ended.then(
    (how) => {
      const isLeaseLost = how === 1 && operator.stderr().includes('the lease was lost')
      if (isOver || !isLeaseLost) operatorEnd = `the operator ended: ${how}\n${operator.stderr()}`
      else {
        console.log('the operator lost its lease to the load, and is started again as a cluster would')
        running = startOperator()
      }
    },
    () => undefined,
  )
  return operator
}

function create(name: string, plural: string, body: Manifest): Promise<unknown> {
  return client.request({ method: 'POST', path: `/apis/whence.dev/v1alpha1/namespaces/${name}/${plural}`, body })
}

/** Pages on the website's own origin, which together have as many characters as a list of pages may have. */
function longestPages(index: number): readonly { readonly id: string; readonly url: string }[] {
  const each = Math.floor(LIMITS.pageListChars / LIMITS.pagesPerWebsite) - 10
  return Array.from({ length: LIMITS.pagesPerWebsite }, (_, number) => {
    const start = `https://large-${index}.example/${number}/`
    // Hardly compressible, as a hostile tenant would make it.
    let path = ''
    while (start.length + path.length < each) path += Math.random().toString(36).slice(2)
    return { id: `p${number}`, url: (start + path).slice(0, each) }
  })
}

async function populate(): Promise<void> {
  const organizations = Math.ceil(objects / PER_ORGANIZATION)
  await inLanes(
    Array.from({ length: organizations }, (_, index) => organization(`org-${index}`)).values(),
    async (body) => void (await create('large', 'organizations', body)),
  )
  const destinations = Math.min(DESTINATIONS, objects / PER_ORGANIZATION)
  const websites = Array.from({ length: objects - organizations - destinations }, (_, index) => index)
  await inLanes(websites.values(), async (index) => {
    const owner = { organizationRef: { name: `org-${Math.floor(index / PER_ORGANIZATION)}` } }
    const pages = index < largest ? { pages: longestPages(index) } : {}
    await create('large', 'websites', website(`large-${index}`, { ...owner, ...pages }))
  })
  const value = Buffer.alloc(SECRET_BYTES, 'x').toString('base64').slice(0, SECRET_BYTES)
  await inLanes(Array.from({ length: destinations }, (_, index) => index).values(), async (index) => {
    const metadata = { name: `keys-${index}` }
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, data: { ga4: 'eA==', other: value } }
    await client.request({ method: 'POST', path: '/api/v1/namespaces/large/secrets', body })
    const ga4 = { measurementId: 'G-ABC1234567', apiSecretRef: { name: metadata.name, key: 'ga4' } }
    const websiteRef = { name: `large-${Math.floor(index / PER_WEBSITE)}` }
    await create('large', 'destinations', ga4Destination(`to-${index}`, { websiteRef, ga4 }))
  })
}

/** Waits until nothing has come into force for some time; prints how much is in force, and the operator's memory. */
async function atRest(): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS
  let last = ''
  for (let now = inForce(); now !== last && Date.now() < endMs; now = inForce()) {
    last = now
    await pause(REST_MS)
  }
  const memory = `${memoryOf(running?.pid ?? 0, 'VmRSS')} MB, ${memoryOf(running?.pid ?? 0, 'VmHWM')} MB at most`
  console.log(`${reader?.current().websites.size ?? 0} websites in force; the operator has ${memory}`)
}

function inForce(): string {
  if (operatorEnd !== '') throw new Error(operatorEnd)
  return reader?.current().version ?? ''
}

function rename(where: string, name: string, displayName: string): Promise<unknown> {
  const path = `/apis/whence.dev/v1alpha1/namespaces/${where}/websites/${name}`
  return client.request({ method: 'PATCH', path, body: { spec: { displayName } }, contentType: MERGE_TYPE })
}

async function measure(when: string, sinceMs: number | null = null): Promise<void> {
  const tookMs: number[] = []
  for (let number = 0; number < edits; number += 1) {
    const displayName = `${when} ${number}`
    const beganMs = performance.now()
    await rename('small', 'edited', displayName)
    await until('the edit is in force', () => reader?.current().websites.get('edited')?.displayName === displayName)
    if (number === 0 && sinceMs !== null)
      console.log(`the first edit ${when}: ${seconds(performance.now() - sinceMs)} after its start`)
    else tookMs.push(performance.now() - beganMs)
    await pause(PAUSE_MS)
  }
  const sorted = tookMs.toSorted((a, b) => a - b)
  console.log(
    `an edit ${when}: median ${median(tookMs).toFixed(0)} ms, at most ${at(sorted, 1).toFixed(0)} ms of ${tookMs.length} (load ${loadavg()[0]?.toFixed(1)})`,
  )
}

/** One after the other, without a pause. */
function editLargest(): { readonly stop: () => Promise<void> } {
  let isEnough = false
  const run = async (): Promise<void> => {
    for (let number = 0; !isEnough; number += 1)
      await rename('large', `large-${number % Math.max(1, largest)}`, `edit ${number}`)
  }
  const edited = run()
  return {
    stop: async () => {
      isEnough = true
      await edited
    },
  }
}

async function until(what: string, look: () => boolean): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS
  while (!look()) {
    if (operatorEnd !== '') throw new Error(operatorEnd)
    if (Date.now() > endMs) throw new Error(`not reached in time: ${what}`)
    await pause(2)
  }
}
