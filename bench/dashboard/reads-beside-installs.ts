/**
 * How much everything that people read affects install events in the same process. The embedded program on core 0 has two million visits
 * and gets install events at a fixed rate: alone, and while 50 tails of Logs are open and one organisation loads pages, downloads its installs
 * and has its installs decided again under another policy. Each round has both, in turns; the result is the median of the rounds' ratios of p99.
 *
 * Use: node bench/dashboard/reads-beside-installs.ts [rounds] [seconds] [events a second] [visits] [folder of `make scale`, copied]
 */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { get, type ClientRequest } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { SCALE_ORGANIZATION, SCALE_WEBSITES } from '../../fixtures/scale/shape.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { eventBody } from '../../fixtures/service/requests.ts'
import {
  emailOf,
  organizationName,
  ownPage,
  signInAll,
  WEBSITES_EACH,
  writeOrganizations,
} from '../support/dashboard-people.ts'
import { bareRate, startEmbedded, stop, waitFor } from '../support/http-load.ts'
import { openLoop, type DueRequest } from '../support/open-loop.ts'
import { at } from '../support/operator-figures.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'
import { fillFacts, SCALE_OWNER, SCALE_SECRET, writeScaleObjects } from '../support/scale-facts.ts'

const rounds = roundsFrom(process.argv[2], 5)
const [seconds = 15, perSecond = 200, visits = 2_000_000] = process.argv.slice(3, 6).map(Number)
const kept = process.argv[6]
const ORGANIZATIONS = 25
const TAILS = 50
const TAILS_OF_A_SESSION = 4
/** People whose sessions hold the tails, and one more who reads. */
const WATCHERS = Math.ceil(TAILS / TAILS_OF_A_SESSION)
/** Of 600 a minute. */
const READS_PER_S = 8
const WARM_UP_S = 15
const GOAL = 1.1
const OWN = `/api/organizations/${SCALE_ORGANIZATION}`
let events = 0

needTools('taskset')
spawnSync('taskset', ['-cp', '1', String(process.pid)])
process.env['WHENCE_SECRET'] = SCALE_SECRET
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-reads-'))
const manifests = join(folder, 'manifests')
await writeOrganizations(manifests, ORGANIZATIONS)
await writeScaleObjects(manifests)
const bare = await bareRate(folder)
await fillFacts(join(folder, 'data'), { visits, ...(kept === undefined ? {} : { from: kept }) })
const port = await freePort()
const child = startEmbedded(port, { folder, manifests })
try {
  await waitFor(`http://127.0.0.1:${port}/health`)
  await measure()
} finally {
  await stop(child)
  await rm(folder, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const emails = [...Array.from({ length: WATCHERS }, (_, place) => emailOf(place)), SCALE_OWNER]
  const cookies = await signInAll(`http://127.0.0.1:${port}`, join(folder, 'data'), emails)
  const reader = ownPage(cookies.at(-1) ?? '', WATCHERS)
  await openLoop({ port, perSecond, seconds: WARM_UP_S, next: event })
  const ratios: number[] = []
  const p99s = { alone: [] as number[], beside: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    for (const turn of round % 2 === 0 ? (['alone', 'beside'] as const) : (['beside', 'alone'] as const)) {
      p99s[turn].push(at(await (turn === 'alone' ? loaded() : besideReads(cookies, reader)), 0.99))
    }
    const [alone = NaN, beside = NaN] = [p99s.alone.at(-1), p99s.beside.at(-1)]
    ratios.push(beside / alone)
    console.log(
      `  round ${round + 1}: p99 of install events alone ${alone.toFixed(1)} ms, beside reads ${beside.toFixed(1)} ms`,
    )
  }
  const ratio = median(ratios)
  console.log(
    `${perSecond} install events/s beside ${TAILS} tails, ${READS_PER_S} pages/s, downloads and a replay over ${visits} visits: p99 ${median(p99s.beside).toFixed(1)} ms, alone ${median(p99s.alone).toFixed(1)} ms, ratio ${ratio.toFixed(2)} of ${rounds} rounds (load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s)`,
  )
  console.log(`  at most ${GOAL}: ${ratio <= GOAL ? 'reached' : 'MISSED'}`)
  if (ratio > GOAL) process.exitCode = 1
}

function loaded(): Promise<readonly number[]> {
  return openLoop({ port, perSecond, seconds, next: event })
}

type Headers = Readonly<Record<string, string>>

async function besideReads(cookies: readonly string[], reader: Headers): Promise<readonly number[]> {
  const tails = await Promise.all(Array.from({ length: TAILS }, (_, index) => openTail(cookies, index)))
  await askReplay(reader)
  const since = Date.now() - 7 * 86_400_000
  const paths = [
    ...[`${OWN}/funnel?since=${since}`, `${OWN}/sources?by=page&since=${since}`, `${OWN}/match?since=${since}`],
    ...[`${OWN}/installs`, `${OWN}/logs?status=4xx`, `${OWN}/deliveries`, `${OWN}/overview`],
  ]
  const ended = new AbortController()
  const downloads = download(reader, ended.signal)
  const read = (index: number): DueRequest => ({ path: paths[index % paths.length] ?? '', headers: reader })
  const reads = openLoop({ port, perSecond: READS_PER_S, seconds, next: read })
  const [times] = await Promise.all([loaded(), reads])
  ended.abort()
  await downloads
  for (const tail of tails) tail.destroy()
  return times
}

/** All of one organisation, whose websites get events: one session holds four of them. */
function openTail(cookies: readonly string[], index: number): Promise<ClientRequest> {
  const place = Math.floor(index / TAILS_OF_A_SESSION)
  const path = `/api/organizations/${organizationName(0)}/logs/tail`
  return new Promise((resolve, reject) => {
    const headers = ownPage(cookies[place] ?? '', place)
    const tail = get({ port, host: '127.0.0.1', path, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`a tail was answered ${response.statusCode}`))
      response.on('error', () => undefined).resume()
      resolve(tail)
    })
    tail.on('error', reject)
  })
}

async function askReplay(headers: Headers): Promise<void> {
  const body = { website: SCALE_WEBSITES[0], policy: 'first_visit', since: Date.now() - 30 * 86_400_000 }
  const response = await fetch(`http://127.0.0.1:${port}${OWN}/replays`, {
    ...{ method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } },
    body: JSON.stringify(body),
  })
  if (response.status !== 202) throw new Error(`the replay was answered ${response.status}: ${await response.text()}`)
}

/** One download of installs after the other. */
async function download(headers: Headers, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const url = `http://127.0.0.1:${port}${OWN}/installs/export`
    await fetch(url, { headers, signal })
      .then((response) => response.text())
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
  }
}

function event(): DueRequest {
  const place = events++
  const address = `${20 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}.1`
  const body = eventBody({ project: `site-${place % (ORGANIZATIONS * WEBSITES_EACH)}`, install_path: undefined })
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
  return { path: '/v1/events', headers, body: JSON.stringify(body) }
}
