/**
 * How fast `whencectl dashboard` answers, and how much memory it takes: `/api/me` and the list of an organisation's websites, in turns, at
 * 200 requests a second that do not wait for each other; first while nothing changes, then while 20 websites a second change. The program
 * runs on core 0 with the memory of the chart's pod; a real kube-apiserver, a real Redis and the load on core 1. Nothing listens at the
 * addresses of Kafka and ClickHouse: these reads need neither.
 *
 * Use: node bench/dashboard/dashboard-reads.ts [websites] [seconds] [requests a second]
 */

import { spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { createKubeClient, type KubeClient } from '../../runtime/kube/client.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kubeTools, startKube, type KubeServer } from '../../fixtures/engines/kube.ts'
import { startRedis } from '../../fixtures/engines/redis.ts'
import { dashboardOptions } from '../support/chart-options.ts'
import {
  emailOf,
  organizationName,
  organizationObjects,
  ownPage,
  signInAll,
  WEBSITES_EACH,
} from '../support/dashboard-people.ts'
import { bareRate, cpuSeconds, residentMb, startPinned, stop, waitFor } from '../support/http-load.ts'
import { inLanes } from '../support/kube-ceiling.ts'
import { openLoop, type DueRequest } from '../support/open-loop.ts'
import { at } from '../support/operator-figures.ts'
import { needTools } from '../support/rounds.ts'

const [websites = 1_000, seconds = 30, perSecond = 200] = process.argv.slice(2).map(Number)
const ORGANIZATIONS = Math.ceil(websites / WEBSITES_EACH)
/** Enough that no session reaches its limit of 600 reads a minute. */
const PEOPLE = 40
const WARM_UP_S = 15
const CHANGES_PER_S = 20
const GOAL_MS = 50
const GOAL_MB = 200
const NAMESPACE = 'sites'
const MERGE_TYPE = 'application/merge-patch+json'

needTools('taskset', 'redis-server')
const tools = await kubeTools()
if (tools === null) throw new Error('not measured: there is no kube-apiserver')
// Everything started from here on runs on the other core than the program.
spawnSync('taskset', ['-cp', '1', String(process.pid)])
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-dashboard-'))
const bare = await bareRate(folder)
const kube = await startKube(tools)
const redis = await startRedis()
const tokenFile = join(folder, 'token')
await writeFile(tokenFile, kube.adminToken, { mode: 0o600 })
const client = createKubeClient({ url: kube.url, tokenFile, caFile: kube.caFile, userAgent: 'kubectl' }, Date.now)
try {
  await populate(kube, client)
  const port = await freePort()
  const child = startDashboard(port)
  try {
    await measure(port, child)
  } finally {
    await stop(child)
  }
} finally {
  client.close()
  await redis.stop()
  await kube.stop()
  await rm(folder, { recursive: true, force: true })
}

async function populate(server: KubeServer, by: KubeClient): Promise<void> {
  await server.installCrds()
  await server.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }])
  const objects = Array.from({ length: ORGANIZATIONS }, (_, place) => organizationObjects(place)).flat()
  await inLanes(objects.values(), async (body) => {
    const plural = RESOURCE_PLURALS[body['kind'] as ResourceKind]
    await by.request({ method: 'POST', path: `/apis/whence.dev/v1alpha1/namespaces/${NAMESPACE}/${plural}`, body })
  })
  say(`${objects.length} objects of ${ORGANIZATIONS} organisations applied`)
}

function startDashboard(port: number): ChildProcess {
  const words = ['bin/whencectl.ts', 'dashboard', '--listen', `127.0.0.1:${port}`, '--metrics-listen', '127.0.0.1:0']
  return startPinned([...words, '--data', join(folder, 'data')], {
    NODE_OPTIONS: dashboardOptions(),
    WHENCE_KUBE_URL: kube.url,
    WHENCE_KUBE_TOKEN_FILE: tokenFile,
    WHENCE_KUBE_CA_FILE: kube.caFile,
    WHENCE_HOT_STATE: redis.url,
    WHENCE_EVENT_LOG: 'kafka://127.0.0.1:1',
    WHENCE_FACTS: 'http://127.0.0.1:9/whence',
    WHENCE_SECRET: 'only-for-measuring-only-for-measuring',
    WHENCE_WATCH_NAMESPACES: NAMESPACE,
    WHENCE_TRUST_PROXY: '127.0.0.0/8',
    WHENCE_LOG_LEVEL: 'error',
  })
}

async function measure(port: number, { pid }: ChildProcess): Promise<void> {
  const url = `http://127.0.0.1:${port}`
  await waitFor(`${url}/api/sign-in`)
  const people = Array.from({ length: PEOPLE }, (_, place) => Math.floor((place * ORGANIZATIONS) / PEOPLE))
  const members = people.map((place, index) => emailOf(place * WEBSITES_EACH + (index % WEBSITES_EACH)))
  const cookies = await signInAll(url, join(folder, 'data'), members)
  say(`signed in; ${residentMb(pid).toFixed(0)} MB at rest`)
  const next = (index: number): DueRequest => {
    const person = (index >> 1) % PEOPLE
    const organization = `${NAMESPACE}/${organizationName(people[person] ?? 0)}`
    const list = `/api/organizations/${encodeURIComponent(organization)}/resources/Website`
    return { path: index % 2 === 0 ? '/api/me' : list, headers: ownPage(cookies[person] ?? '', person) }
  }
  const load = { port, perSecond, next }
  await openLoop({ ...load, seconds: WARM_UP_S })
  await tell('nothing changes', () => openLoop({ ...load, seconds }), pid)
  const changing = new AbortController()
  const changes = changeWebsites(changing.signal)
  await tell(`${CHANGES_PER_S} websites a second change`, () => openLoop({ ...load, seconds }), pid)
  changing.abort()
  await changes
}

async function changeWebsites(signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count += 1) {
    const name = `site-${count % (ORGANIZATIONS * WEBSITES_EACH)}`
    const path = `/apis/whence.dev/v1alpha1/namespaces/${NAMESPACE}/websites/${name}`
    void client.request({
      method: 'PATCH',
      path,
      body: { spec: { displayName: `Change ${count}` } },
      contentType: MERGE_TYPE,
    })
    await wait(1_000 / CHANGES_PER_S)
  }
}

async function tell(what: string, run: () => Promise<readonly number[]>, pid: number | undefined): Promise<void> {
  const beforeS = cpuSeconds(pid)
  const times = await run()
  const cpu = (100 * (cpuSeconds(pid) - beforeS)) / seconds
  const p99 = at(times, 0.99)
  const mb = residentMb(pid)
  say(
    `${times.length} reads at ${perSecond}/s while ${what}: p50 ${at(times, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${at(times, 1).toFixed(0)} ms`,
  )
  say(`  ${cpu.toFixed(0)} % of a core, ${mb.toFixed(0)} MB resident`)
  const isReached = p99 < GOAL_MS && mb <= GOAL_MB
  say(`  p99 under ${GOAL_MS} ms in at most ${GOAL_MB} MB: ${isReached ? 'reached' : 'MISSED'}`)
  if (!isReached) process.exitCode = 1
}

function say(text: string): void {
  console.log(`${text} (load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s)`)
}
