/**
 * How much everything that people read affects install events. A service has two million visits and gets install events at a fixed rate: alone,
 * and while 50 tails of Logs are open and one organisation loads pages, downloads its installs and has its installs decided again under another
 * policy. Each round has both, in turns; the result is the median of the rounds' ratios of p99. Once for the embedded program on one core, where
 * each part that other processes disturbed is repeated, once for it on both cores, and once for processes on Kafka, Redis and ClickHouse's engine
 * behind an HTTP fixture (`read-targets.ts`).
 *
 * Use: node bench/dashboard/reads-beside-installs.ts [--reads tails,pages,downloads,replay] [rounds] [seconds] [events a second]
 *        [embedded,both,distributed] [visits] [folder of `make scale`, copied]
 */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { get, type ClientRequest } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

import { SCALE_ORGANIZATION, SCALE_WEBSITES } from '../../fixtures/scale/shape.ts'
import {
  emailOf,
  MEMBERS_EACH,
  organizationName,
  ownPage,
  signInAll,
  WEBSITES_EACH,
} from '../support/dashboard-people.ts'
import { bareRate } from '../support/http-load.ts'
import { openLoop, undisturbed, type DueRequest } from '../support/open-loop.ts'
import { at } from '../support/operator-figures.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'
import { fillFacts, SCALE_OWNER, SCALE_SECRET } from '../support/scale-facts.ts'
import type { InstallEvents } from './install-events.ts'
import { bothCoresTarget, distributedTarget, embeddedTarget, type ReadTarget } from './read-targets.ts'

const TARGETS = { embedded: embeddedTarget, both: bothCoresTarget, distributed: distributedTarget } as const
const KINDS = ['tails', 'pages', 'downloads', 'replay'] as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { reads: { type: 'string', default: KINDS.join() } },
})
const kinds = new Set(values.reads.split(','))
const unknown = [...kinds].filter((kind) => !(KINDS as readonly string[]).includes(kind))
if (unknown.length > 0) throw new Error(`--reads takes ${KINDS.join()}, not ${unknown.join()}`)
const rounds = roundsFrom(positionals[0], 5)
const [seconds = 15, perSecond = 200] = positionals.slice(1, 3).map(Number)
const wanted = (positionals[3] ?? Object.keys(TARGETS).join()).split(',')
const visits = Number(positionals[4] ?? 2_000_000)
const kept = positionals[5]
const ORGANIZATIONS = 25
const TAILS = 50
const TAILS_OF_A_SESSION = 4
/** People whose sessions hold the tails, of two organisations in turns, since one may have half of them; and one more who reads. */
const WATCHERS = Math.ceil(TAILS / TAILS_OF_A_SESSION)
const watcherEmail = (place: number): string => emailOf((place % 2) * MEMBERS_EACH + Math.floor(place / 2))
/** Of 600 a minute. */
const READS_PER_S = 8
const WARM_UP_S = 30
const PATIENCE_MS = 60_000
const STEP_MS = 100
/** Between two looks whether everything has been worked off. */
const REST_MS = 2_000
const GOAL = 1.1
const OWN = `/api/organizations/${SCALE_ORGANIZATION}`
/** What was read: pieces of the tails, megabytes of downloads, pages; and what was refused or cut off, since the engine was too slow. */
const read = { tailed: 0, downloadedMb: 0, pages: 0, refused: 0, cutOff: 0 }

needTools('taskset')
spawnSync('taskset', ['-cp', '1', String(process.pid)])
process.env['WHENCE_SECRET'] = SCALE_SECRET
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-reads-'))
try {
  const bare = await bareRate(folder)
  const filled = kept ?? join(folder, 'filled')
  if (kept === undefined) await fillFacts(filled, { visits })
  for (const name of Object.keys(TARGETS) as (keyof typeof TARGETS)[]) {
    if (!wanted.includes(name)) continue
    const own = join(folder, name)
    await mkdir(own)
    const target = await TARGETS[name]({ folder: own, tables: join(filled, 'chdb'), organizations: ORGANIZATIONS })
    try {
      await measure(name, target, bare)
    } finally {
      await target.stop()
      await rm(own, { recursive: true, force: true })
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measure(name: string, target: ReadTarget, bare: number): Promise<void> {
  const emails = [...Array.from({ length: WATCHERS }, (_, place) => watcherEmail(place)), SCALE_OWNER]
  const cookies = await signInAll(`http://127.0.0.1:${target.dashboard}`, target.data, emails)
  const people = { dashboard: target.dashboard, cookies, reader: ownPage(cookies.at(-1) ?? '', WATCHERS) }
  await untilMember(people)
  const workerData: InstallEvents = { port: target.collection, perSecond, websites: ORGANIZATIONS * WEBSITES_EACH }
  const worker = new Worker(new URL('install-events.ts', import.meta.url), { workerData })
  const loaded = async (during = seconds): Promise<Times> => {
    worker.postMessage(during)
    const [times] = (await once(worker, 'message')) as [Times]
    return times
  }
  await loaded(WARM_UP_S)
  // The code of reads is loaded with the first of them.
  await besideReads(people, loaded)
  const ratios: number[] = []
  const p99s = { alone: [] as number[], beside: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    for (const turn of round % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const)) {
      await wait(REST_MS)
      await untilAtRest(people)
      const part = (): Promise<Times> => (turn === 'alone' ? loaded() : besideReads(people, loaded))
      p99s[turn].push(at(await (target.pid === undefined ? part() : undisturbed(target.pid, part)), 0.99))
    }
    const alone = p99s.alone.at(-1) ?? NaN
    const beside = p99s.beside.at(-1) ?? NaN
    ratios.push(beside / alone)
    console.log(
      `  round ${round + 1}: p99 of install events alone ${alone.toFixed(1)} ms, beside reads ${beside.toFixed(1)} ms`,
    )
  }
  await worker.terminate()
  const ratio = median(ratios)
  console.log(
    `${name}: ${perSecond} install events/s beside ${readsInWords()} over ${visits} visits: p99 ${median(p99s.beside).toFixed(1)} ms, alone ${median(p99s.alone).toFixed(1)} ms, ratio ${ratio.toFixed(2)} of ${rounds} rounds (load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s)`,
  )
  console.log(`  read: ${JSON.stringify(read)}`)
  console.log(`  at most ${GOAL}: ${ratio <= GOAL ? 'reached' : 'MISSED'}`)
  if (ratio > GOAL) process.exitCode = 1
}

/** No replay goes on from the turn before. */
async function untilAtRest({ dashboard, reader: headers }: People): Promise<void> {
  await patiently('replays go on', REST_MS, async () => {
    const response = await fetch(`http://127.0.0.1:${dashboard}${OWN}/replays`, { headers })
    return response.ok && ((await response.json()) as Replays).replays.every(({ state }) => state === 'done')
  })
}

/** Looks again until it is so. Throws `problem` after a minute. */
async function patiently(problem: string, everyMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > endsAtMs) throw new Error(problem)
    await wait(everyMs)
  }
}

interface Replays {
  readonly replays: readonly { readonly state: string }[]
}

type Times = readonly number[]

interface People {
  /** The port that they read from. */
  readonly dashboard: number
  /** Of the sessions that hold tails. */
  readonly cookies: readonly string[]
  /** Headers of the one who reads. */
  readonly reader: Readonly<Record<string, string>>
}

/** A directory of a cluster may not know its members yet. */
async function untilMember({ dashboard, reader: headers }: People): Promise<void> {
  const own = `http://127.0.0.1:${dashboard}${OWN}`
  await patiently('the reader is not a member', STEP_MS, async () => (await fetch(own, { headers })).ok)
}

function readsInWords(): string {
  const words = { tails: `${TAILS} tails`, pages: `${READS_PER_S} pages/s`, downloads: 'downloads', replay: 'a replay' }
  return KINDS.filter((kind) => kinds.has(kind))
    .map((kind) => words[kind])
    .join(', ')
}

async function besideReads(people: People, loaded: () => Promise<Times>): Promise<Times> {
  const tailCount = kinds.has('tails') ? TAILS : 0
  const tails = await Promise.all(Array.from({ length: tailCount }, (_, index) => openTail(people, index)))
  if (kinds.has('replay')) await askReplay(people)
  const ended = new AbortController()
  const downloads = kinds.has('downloads') ? download(people, ended.signal) : undefined
  const pages = kinds.has('pages') ? loadPages(people) : undefined
  const work = Promise.all([loaded(), pages]).finally(() => ended.abort())
  const [[times]] = await Promise.all([work, downloads])
  for (const tail of tails) tail.destroy()
  return times
}

async function loadPages({ dashboard: port, reader: headers }: People): Promise<void> {
  const since = Date.now() - 7 * 86_400_000
  const paths = [
    `${OWN}/funnel?since=${since}`,
    `${OWN}/sources?by=page&since=${since}`,
    `${OWN}/match?since=${since}`,
    `${OWN}/installs`,
    `${OWN}/logs?status=4xx`,
    `${OWN}/deliveries`,
    `${OWN}/overview`,
  ]
  const next = (index: number): DueRequest => ({ path: paths[index % paths.length] ?? '', headers })
  await openLoop({ port, perSecond: READS_PER_S, seconds, next, onRefusal: () => void (read.refused += 1) })
  read.pages += READS_PER_S * seconds
}

/** Of two organisations, whose websites get events: one session holds four of them. */
function openTail({ dashboard: port, cookies }: People, index: number): Promise<ClientRequest> {
  const place = Math.floor(index / TAILS_OF_A_SESSION)
  const path = `/api/organizations/${organizationName(place % 2)}/logs/tail`
  return new Promise((resolve, reject) => {
    const headers = ownPage(cookies[place] ?? '', place)
    const tail = get({ port, host: '127.0.0.1', path, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a tail was answered ${response.statusCode}`))
      response.on('error', () => undefined).on('data', () => void (read.tailed += 1))
      resolve(tail)
    })
    tail.on('error', reject)
  })
}

async function askReplay({ dashboard: port, reader: headers }: People): Promise<void> {
  const body = { website: SCALE_WEBSITES[0], policy: 'first_visit', since: Date.now() - 30 * 86_400_000 }
  const response = await fetch(`http://127.0.0.1:${port}${OWN}/replays`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 202) throw new Error(`the replay was answered ${response.status}: ${await response.text()}`)
}

/** One download of installs after the other. What cannot be read in time is cut off, as the service says it is. */
async function download({ dashboard: port, reader: headers }: People, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const url = `http://127.0.0.1:${port}${OWN}/installs/export`
    try {
      const response = await fetch(url, { headers, signal })
      if (!response.ok) throw new Error(`a download was answered ${response.status}`)
      for await (const piece of response.body ?? []) read.downloadedMb += piece.length / 1_000_000
    } catch {
      if (signal.aborted) return
      read.cutOff += 1
      await wait(STEP_MS)
    }
  }
}
