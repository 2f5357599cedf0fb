/**
 * How much reads of the dashboard affect visits in the same process. The embedded program on core 0 gets visits at a fixed rate:
 * alone, beside four people of one organisation who each read as fast as their limit allows (600 a minute) from routes that only
 * look at objects, and the same from routes that ask ClickHouse too. Each round has all of them, in another order, and repeats what
 * other processes disturbed; the result is the median of the rounds' ratios of p99.
 *
 * Use: node bench/dashboard/dashboard-beside-visits.ts [rounds] [seconds] [visits a second]
 */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from '../../fixtures/engines/free-port.ts'
import {
  emailOf,
  organizationName,
  ownPage,
  signInAll,
  siteVisits,
  writeOrganizations,
} from '../support/dashboard-people.ts'
import { bareRate, startEmbedded, stop, waitFor } from '../support/http-load.ts'
import { openLoop, undisturbed, type DueRequest } from '../support/open-loop.ts'
import { at } from '../support/operator-figures.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'

const rounds = roundsFrom(process.argv[2], 5)
const [seconds = 6, perSecond = 300] = process.argv.slice(3).map(Number)
const ORGANIZATIONS = 50
const PEOPLE = 4
/** 600 a minute for each. */
const READS_PER_S = 10 * PEOPLE
const WARM_UP_S = 20
const GOAL = 1.1
const visit = siteVisits(ORGANIZATIONS)

needTools('taskset')
spawnSync('taskset', ['-cp', '1', String(process.pid)])
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-beside-'))
const bare = await bareRate(folder)
const manifests = join(folder, 'manifests')
await writeOrganizations(manifests, ORGANIZATIONS)
const port = await freePort()
const child = startEmbedded(port, { folder, manifests })
try {
  await waitFor(`http://127.0.0.1:${port}/health`)
  await measure()
} finally {
  await stop(child)
  await rm(folder, { recursive: true, force: true })
}

type Beside = 'alone' | 'objects' | 'figures'

async function measure(): Promise<void> {
  const emails = Array.from({ length: PEOPLE }, (_, place) => emailOf(place))
  const cookies = await signInAll(`http://127.0.0.1:${port}`, join(folder, 'data'), emails)
  const own = `/api/organizations/${organizationName(0)}`
  const sinceMs = Date.now() - 86_400_000
  const paths = {
    alone: [],
    objects: ['/api/me', `${own}/resources/Website`, `${own}/members`, own],
    figures: [
      '/api/me',
      `${own}/resources/Website`,
      `${own}/overview`,
      `${own}/funnel?since=${sinceMs}&until=${Date.now()}`,
    ],
  } as const satisfies Record<Beside, readonly string[]>
  await openLoop({ port, perSecond, seconds: WARM_UP_S, next: visit })
  const p99s: Record<Beside, number[]> = { alone: [], objects: [], figures: [] }
  for (let round = 0; round < rounds; round += 1) {
    const order = (['alone', 'objects', 'figures'] as const).map(
      (_, place, all) => all[(place + round) % all.length] ?? 'alone',
    )
    for (const beside of order) {
      const read = (index: number): DueRequest => ({
        path: paths[beside][(index >> 2) % 4] ?? '',
        headers: ownPage(cookies[index % PEOPLE] ?? '', index % PEOPLE),
      })
      const times = await undisturbed(child.pid, async () => {
        const reads = beside === 'alone' ? [] : [openLoop({ port, perSecond: READS_PER_S, seconds, next: read })]
        const [visits = []] = await Promise.all([openLoop({ port, perSecond, seconds, next: visit }), ...reads])
        return visits
      })
      p99s[beside].push(at(times, 0.99))
    }
    const last = Object.entries(p99s).map(([name, all]) => `${name} ${all.at(-1)?.toFixed(1)} ms`)
    console.log(`  round ${round + 1}: p99 of visits ${last.join(', ')}`)
  }
  tell('objects', p99s)
  tell('figures', p99s)
}

function tell(beside: Exclude<Beside, 'alone'>, p99s: Readonly<Record<Beside, readonly number[]>>): void {
  const ratio = median(p99s[beside].map((p99, round) => p99 / (p99s.alone[round] ?? Number.NaN)))
  const alone = median(p99s.alone)
  const with_ = median(p99s[beside])
  const machine = `load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s`
  console.log(
    `${perSecond} visits/s beside ${READS_PER_S} reads/s of ${beside}: p99 ${with_.toFixed(1)} ms, alone ${alone.toFixed(1)} ms, ratio ${ratio.toFixed(2)} of ${rounds} rounds (${machine})`,
  )
  console.log(`  at most ${GOAL}: ${ratio <= GOAL ? 'reached' : 'MISSED'}`)
  if (ratio > GOAL) process.exitCode = 1
}
