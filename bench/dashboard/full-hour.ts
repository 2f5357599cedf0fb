/**
 * How much the end of an hour affects visits in the embedded program, whose role `rollup` then counts that hour of every website. The
 * program's clock goes on to the next full hour at a signal, so each round has visits at a fixed rate before and after it. The result is
 * the median of the rounds' ratios of p99, the worst quarter of a minute after the hour against all before it.
 *
 * Use: node bench/dashboard/full-hour.ts [rounds] [visits a second] [visits a second that fill an hour first]
 */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from '../../fixtures/engines/free-port.ts'
import { siteVisits, WEBSITES_EACH, writeOrganizations } from '../support/dashboard-people.ts'
import { bareRate, cpuSeconds, startEmbedded, stop, waitFor } from '../support/http-load.ts'
import { openLoop } from '../support/open-loop.ts'
import { at } from '../support/operator-figures.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'

const rounds = roundsFrom(process.argv[2], 3)
const [perSecond = 300, fillPerSecond = 1_000] = process.argv.slice(3).map(Number)
const ORGANIZATIONS = 50
const WARM_UP_S = 15
const FILL_S = 20
const CALM_S = 10
const BEFORE_S = 30
/** A quarter of a minute each; the role looks every half minute. */
const PART_S = 15
const PARTS = 5
/** Loaded before the program: at SIGWINCH its clock goes on to the next full hour. */
const CLOCK = `
let aheadMs = 0
const now = Date.now
Date.now = () => now() + aheadMs
globalThis.Date = new Proxy(Date, { construct: (Real, words) => new Real(...(words.length === 0 ? [Date.now()] : words)) })
process.on('SIGWINCH', () => { aheadMs += 3600000 - (Date.now() % 3600000) })`

needTools('taskset')
spawnSync('taskset', ['-cp', '1', String(process.pid)])
const folder = await mkdtemp(join(tmpdir(), 'whence-bench-hour-'))
const bare = await bareRate(folder)
const manifests = join(folder, 'manifests')
await writeOrganizations(manifests, ORGANIZATIONS)
const next = siteVisits(ORGANIZATIONS)
const port = await freePort()
process.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(CLOCK)}`
const child = startEmbedded(port, { folder, manifests })
try {
  await waitFor(`http://127.0.0.1:${port}/health`)
  await measure()
} finally {
  await stop(child)
  await rm(folder, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  await openLoop({ port, perSecond, seconds: WARM_UP_S, next })
  const before: number[] = []
  const worst: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await openLoop({ port, perSecond: fillPerSecond, seconds: FILL_S, next })
    await openLoop({ port, perSecond, seconds: CALM_S, next })
    const first = await part(BEFORE_S)
    child.kill('SIGWINCH')
    const after: (typeof first)[] = []
    for (let place = 0; place < PARTS; place += 1) after.push(await part(PART_S))
    before.push(first.p99)
    worst.push(Math.max(...after.map(({ p99 }) => p99)))
    const shown = [first, ...after].map(({ p99, core }) => `${p99.toFixed(1)} ms (${(core * 100).toFixed(0)} %)`)
    console.log(
      `  round ${round + 1}: p99 and share of the core before ${shown[0]}, after ${shown.slice(1).join(', ')}`,
    )
  }
  const ratio = median(worst.map((p99, round) => p99 / (before[round] ?? Number.NaN)))
  console.log(
    `${perSecond} visits/s after a full hour of ${(fillPerSecond * FILL_S + perSecond * (CALM_S + BEFORE_S)).toLocaleString('en')} visits of ${ORGANIZATIONS * WEBSITES_EACH} websites: worst p99 of ${PART_S} s ${median(worst).toFixed(1)} ms, before ${median(before).toFixed(1)} ms, ratio ${ratio.toFixed(2)} of ${rounds} rounds (load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s)`,
  )
}

/** Visits for a while; `core`: the program's processor time meanwhile. */
async function part(seconds: number): Promise<{ readonly p99: number; readonly core: number }> {
  const cpuBeforeS = cpuSeconds(child.pid)
  const times = await openLoop({ port, perSecond, seconds, next })
  return { p99: at(times, 0.99), core: (cpuSeconds(child.pid) - cpuBeforeS) / seconds }
}
