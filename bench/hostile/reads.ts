/**
 * What the worst person costs another organisation, each within all published limits: the other's reads of the dashboard and everybody's install
 * events, alone and beside one person who loads pages of installs ten times a second, searches bodies and downloads lists without a pause, holds
 * tails, and sends queries and paths that are dear to parse. The facts are those of `make scale`; the program is the embedded one.
 *
 * Use: node bench/hostile/reads.ts [--kinds pages,searches,downloads,tails,parsing] [pairs] [seconds] [install events a second] [embedded,both]
 *        [visits] [folder of `make scale`, copied]
 */

import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { loadavg, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

import { OTHER_ORGANIZATION, OTHER_WEBSITE } from '../../fixtures/scale/shape.ts'
import { organization, resource, website } from '../../fixtures/service/manifests.ts'
import type { InstallEvents } from '../dashboard/install-events.ts'
import { bothCoresTarget, embeddedTarget, type ReadTarget } from '../dashboard/read-targets.ts'
import { ownPage, signInAll, WEBSITES_EACH } from '../support/dashboard-people.ts'
import { bareRate } from '../support/http-load.ts'
import { openLoop, type DueRequest } from '../support/open-loop.ts'
import { at } from '../support/operator-figures.ts'
import { needTools, roundsFrom } from '../support/rounds.ts'
import { fillFacts, SCALE_OWNER, SCALE_SECRET } from '../support/scale-facts.ts'
import { measurePairs, PAIRS } from './paired-windows.ts'
import { KINDS, type Kind, type WorstPerson } from './worst-person.ts'

const TARGETS = { embedded: embeddedTarget, both: bothCoresTarget } as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kinds: { type: 'string', default: KINDS.join() } },
})
const kinds = values.kinds.split(',') as Kind[]
const unknown = kinds.filter((kind) => !KINDS.includes(kind))
if (unknown.length > 0) throw new Error(`--kinds takes ${KINDS.join()}, not ${unknown.join()}`)
const pairs = roundsFrom(positionals[0], PAIRS)
const [seconds = 20, perSecond = 50] = positionals.slice(1, 3).map(Number)
const wanted = (positionals[3] ?? 'both').split(',')
const visits = Number(positionals[4] ?? 2_000_000)
const kept = positionals[5]
/** Whose websites get install events. */
const ORGANIZATIONS = 5
const OTHER_OWNER = 'owner@beside.dev'
/** Of the worst person; each may read 600 times a minute, and hold four tails. */
const SESSIONS = 4
/** Of the other organisation: more than people look at. At 4 a second with 50 install events one core is nearly full without anybody else. */
const READS_PER_S = 2
const WARM_UP_S = 15
const REST_MS = 3_000
/** Of nice: what is measured goes first. */
const LATER = 10
const DAY_MS = 86_400_000
const SINCE = Date.now() - 7 * DAY_MS

interface People {
  readonly port: number
  /** Of the other organisation. */
  readonly reader: DueRequest['headers']
  /** Of the worst person. */
  readonly worst: readonly DueRequest['headers'][]
}

needTools('taskset')
spawnSync('taskset', ['-cp', '1', String(process.pid)])
process.env['WHENCE_SECRET'] = SCALE_SECRET
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-hostile-'))
try {
  const bare = await bareRate(folder)
  const filled = kept ?? join(folder, 'filled')
  if (kept === undefined) await fillFacts(filled, { visits })
  const names = (Object.keys(TARGETS) as (keyof typeof TARGETS)[]).filter((name) => wanted.includes(name))
  for (const name of names) if (!(await measureTarget(name, join(filled, 'chdb'), bare))) process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** Whether all bounds hold. */
async function measureTarget(name: keyof typeof TARGETS, tables: string, bare: number): Promise<boolean> {
  const own = join(folder, name)
  await mkdir(own)
  const organizationRef = { name: OTHER_ORGANIZATION }
  const objects = [
    organization(OTHER_ORGANIZATION),
    website(OTHER_WEBSITE, { organizationRef }),
    resource('Member', 'other', { organizationRef, email: OTHER_OWNER, role: 'Owner' }),
  ]
  const target = await TARGETS[name]({ folder: own, tables, organizations: ORGANIZATIONS, objects })
  try {
    return await measure(name, target, bare)
  } finally {
    await target.stop()
    await rm(own, { recursive: true, force: true })
  }
}

async function measure(name: string, target: ReadTarget, bare: number): Promise<boolean> {
  const people = await signedIn(target)
  const workerData: InstallEvents = { port: target.collection, perSecond, websites: ORGANIZATIONS * WEBSITES_EACH }
  const worker = new Worker(new URL('../dashboard/install-events.ts', import.meta.url), { workerData })
  const events = async (during: number): Promise<readonly number[]> => {
    worker.postMessage(during)
    const [times] = (await once(worker, 'message')) as [readonly number[]]
    return times
  }
  const window = async (during: number) => {
    let failed = 0
    const next = (index: number): DueRequest => ({ path: readPath(index), headers: people.reader })
    const { port } = people
    const reading = openLoop({
      port,
      perSecond: READS_PER_S,
      seconds: during,
      next,
      onRefusal: () => void (failed += 1),
    })
    const [reads, installs] = await Promise.all([reading, events(during)])
    return { reads: at(reads, 0.99), failed, installs: at(installs, 0.99) }
  }
  const beside = async () => {
    const attack = await startAttack(people)
    // By then it is in full course.
    await wait(REST_MS)
    try {
      return await window(seconds)
    } finally {
      await attack.stop()
    }
  }
  try {
    await window(WARM_UP_S)
    console.log(
      `${name}: ${READS_PER_S} reads/s of one organisation and ${perSecond} install events/s beside one person of another (${kinds.join(', ')}), windows of ${seconds} s over ${visits} visits; bare node:http ${bare.toFixed(0)}/s, load ${loadavg()[0]?.toFixed(1)}`,
    )
    return await measurePairs({
      pairs,
      figures: {
        reads: { name: 'p99 of reads, ms', mayBe: { times: 2, orMore: 300 } },
        failed: { name: 'reads that failed', mayBe: { times: 1, orMore: 0 } },
        installs: { name: 'p99 of install events, ms', mayBe: { times: 1.5, orMore: 0 } },
      },
      measure: async (kind) => {
        await wait(REST_MS)
        return kind === 'alone' ? window(seconds) : beside()
      },
    })
  } finally {
    await worker.terminate()
  }
}

async function signedIn(target: ReadTarget): Promise<People> {
  const emails = [OTHER_OWNER, ...Array.from({ length: SESSIONS }, () => SCALE_OWNER)]
  const [reader = '', ...worst] = await signInAll(`http://127.0.0.1:${target.dashboard}`, target.data, emails)
  return {
    port: target.dashboard,
    reader: ownPage(reader, 0),
    worst: worst.map((cookie, place) => ownPage(cookie, place + 1)),
  }
}

function readPath(index: number): string {
  const own = `/api/organizations/${OTHER_ORGANIZATION}`
  const paths = [
    'overview',
    `funnel?since=${SINCE}`,
    'installs',
    'logs',
    'deliveries',
    `sources?by=page&since=${SINCE}`,
  ]
  return `${own}/${paths[index % paths.length]}`
}

/** As a process of its own that gives way to this one: what an attacker's machine has to do is not to be measured. */
async function startAttack({ port, worst }: People): Promise<{ readonly stop: () => Promise<void> }> {
  const wish: WorstPerson = { port, kinds, sessions: worst }
  const child = fork(new URL('worst-person.ts', import.meta.url), [JSON.stringify(wish)])
  setPriority(child.pid ?? 0, LATER)
  await once(child, 'message')
  return {
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
