/**
 * What a request costs this tree and another one: `node bench/trees/compare.ts OTHER_TREE [visit|event] [bursts] [seconds]`, for
 * example after `git worktree add ../before 2d9b935`. The other tree needs its `node_modules`.
 *
 * Both trees serve the same load in short bursts in turns, so that a machine that becomes slower is so for both: first embedded,
 * then an api on a Kafka and a Redis of its own. Figures are processor time: medians of the bursts for an api; for embedded all
 * of it until the process is quiet again, because its rows are written after the answer.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { startEngines } from '../../fixtures/engines/engines.ts'
import { freePort } from '../../fixtures/engines/free-port.ts'
import { kafkaJars } from '../../fixtures/engines/kafka.ts'
import {
  cpuWhenQuiet,
  luaScript,
  measureBare,
  startEmbedded,
  stop,
  waitFor,
  WARM_UP_S,
  writeManifests,
  wrk,
  type Figures,
} from '../support/http-load.ts'
import { fillRedis, startApi, type Server } from '../support/filled-redis.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'

const [other, load = 'event', burstsText = '12', seconds = '3'] = process.argv.slice(2)
if (other === undefined || (load !== 'visit' && load !== 'event'))
  throw new Error('use: node bench/trees/compare.ts OTHER_TREE [visit|event] [bursts] [seconds]')
const bursts = roundsFrom(burstsText, 12)
const TREES = { this: resolve(import.meta.dirname, '../..'), other: resolve(other) }
type Tree = keyof typeof TREES
const NAMES = Object.keys(TREES) as Tree[]

needTools('wrk', 'taskset', 'java', 'redis-server')
const jars = await kafkaJars()
if (jars === null) throw new Error('not measured: there is no Kafka')
const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
const manifests = join(folder, 'manifests')
const script = join(folder, 'load.lua')
writeManifests(manifests)
writeFileSync(script, luaScript(load))
try {
  const bare = await measureBare(script, Number(seconds))
  console.log(`bare node:http: ${bare.perSecond.toFixed(0)}/s, ${bare.perCpuSecond.toFixed(0)} per CPU second`)
  await compareEmbedded()
  await compareApis()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

type Served = Readonly<Record<Tree, Server>>

function warmUp(served: Served): void {
  for (const name of NAMES) wrk(served[name].port, script, WARM_UP_S)
}

/** In the order this, other, other, this, ..., so that neither is always the later one. */
function inTurns(served: Served): Record<Tree, Figures[]> {
  const figures: Record<Tree, Figures[]> = { this: [], other: [] }
  for (let burst = 0; burst < bursts; burst++) {
    for (const name of burst % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const { port, child } = served[name]
      figures[name].push(wrk(port, script, Number(seconds), { pid: child.pid }))
    }
  }
  return figures
}

async function compareEmbedded(): Promise<void> {
  const served = await forBoth(async (name) => {
    const port = await freePort()
    const child = startEmbedded(port, { folder: join(folder, name), manifests, tree: TREES[name] })
    await waitFor(`http://127.0.0.1:${port}/health`)
    return { port, child }
  })
  try {
    warmUp(served)
    const before = await forBoth((name) => cpuWhenQuiet(served[name].child.pid))
    const figures = inTurns(served)
    const after = await forBoth((name) => cpuWhenQuiet(served[name].child.pid))
    tell('embedded, while it answers', await forBoth(async (name) => medianUs(figures[name])))
    const wholeUs = (name: Tree): number => {
      const requests = figures[name].reduce((sum, each) => sum + each.requests, 0)
      return ((after[name] - before[name]) / requests) * 1e6
    }
    tell('embedded, until it is quiet', await forBoth(async (name) => wholeUs(name)))
  } finally {
    await forBoth((name) => stop(served[name].child))
  }
}

async function compareApis(): Promise<void> {
  const engines = await forBoth(() => startEngines({ jars: jars ?? '', partitions: 12, onProgress: () => undefined }))
  try {
    await forBoth((name) => fillRedis(engines[name]))
    const served = await forBoth((name) => startApi(engines[name], { manifests, tree: TREES[name] }))
    try {
      warmUp(served)
      const figures = inTurns(served)
      tell('an api on Kafka and Redis', await forBoth(async (name) => medianUs(figures[name])))
    } finally {
      await forBoth((name) => stop(served[name].child))
    }
  } finally {
    await forBoth((name) => engines[name].stop())
  }
}

async function forBoth<T>(work: (name: Tree) => Promise<T>): Promise<Record<Tree, T>> {
  return { this: await work('this'), other: await work('other') }
}

function medianUs(figures: readonly Figures[]): number {
  return median(figures.map(({ perCpuSecond }) => 1e6 / perCpuSecond))
}

function tell(what: string, us: Readonly<Record<Tree, number>>): void {
  const share = ((us.this / us.other - 1) * 100).toFixed(1)
  console.log(
    `${load}, ${what}: ${us.this.toFixed(0)} us of processor time, ${us.other.toFixed(0)} in the other tree: ${share} % more`,
  )
}
