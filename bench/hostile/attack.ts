/**
 * How much clients that hold connections open for nothing cost an honest one: its p99 while 64 of a kind are connected, and its p99 in the
 * same round without them. The honest client is wrk with 64 connections and durable visits of 900 bytes on core 1, as in `bench/http.ts`;
 * the service is the embedded one on core 0. Medians of the rounds; the limit is 1.5 times.
 *
 * Use: node bench/hostile/attack.ts [rounds] [seconds]
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../fixtures/engines/free-port.ts'
import {
  luaScript,
  measureBare,
  startEmbedded,
  stop,
  waitFor,
  WARM_UP_S,
  writeManifests,
  wrk,
} from '../support/http-load.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'

const ROUNDS = roundsFrom(process.argv[2], 3)
const SECONDS = Number(process.argv[3] ?? 10)
const ATTACKERS = 64
const KINDS = ['slow-head', 'slow-body', 'slow-reader', 'crlf-drip'] as const
type Kind = (typeof KINDS)[number]
const BOUND = 1.5
/** By then all connections are open, and the first ones are already being closed. */
const SETTLE_MS = 2_000

async function startAttack(port: number, kind: Kind): Promise<ChildProcess> {
  const words = ['-c', '1', process.execPath, 'bench/support/attackers.ts', String(port), kind, String(ATTACKERS)]
  const child = spawn('taskset', words, {
    cwd: new URL('../..', import.meta.url).pathname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await wait(SETTLE_MS)
  return child
}

/** One measurement without attackers for each with them: the speed of the machine varies. */
async function measure(port: number, kind: Kind): Promise<void> {
  const calm = wrk(port, script, SECONDS).p99Ms
  const attack = await startAttack(port, kind)
  try {
    const { p99Ms } = wrk(port, script, SECONDS)
    attacked[kind].push({ p99Ms, ratio: p99Ms / calm })
    alone.push(calm)
    const load = loadavg()[0]?.toFixed(1) ?? ''
    console.log(`  ${kind}: p99 ${calm.toFixed(1)} ms alone, ${p99Ms.toFixed(1)} ms beside (load ${load})`)
  } finally {
    await stop(attack)
  }
}

needTools('wrk', 'taskset')
const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
const script = join(folder, 'visit.lua')
writeFileSync(script, luaScript('visit'))
writeManifests(join(folder, 'manifests'))
const alone: number[] = []
const attacked: Record<Kind, { readonly p99Ms: number; readonly ratio: number }[]> = {
  'slow-head': [],
  'slow-body': [],
  'slow-reader': [],
  'crlf-drip': [],
}
let service: ChildProcess | null = null
try {
  const bare = await measureBare(script, SECONDS)
  const port = await freePort()
  service = startEmbedded(port, { folder, manifests: join(folder, 'manifests') })
  await waitFor(`http://127.0.0.1:${port}/health`)
  wrk(port, script, WARM_UP_S)
  for (let round = 0; round < ROUNDS; round++) for (const kind of KINDS) await measure(port, kind)
  console.log(`bare node:http: ${bare.perSecond.toFixed(0)}/s, p99 ${bare.p99Ms.toFixed(1)} ms`)
  console.log(`an honest client alone: p99 ${median(alone).toFixed(1)} ms`)
  for (const kind of KINDS) {
    const ratio = median(attacked[kind].map((each) => each.ratio))
    const p99Ms = median(attacked[kind].map((each) => each.p99Ms))
    console.log(`beside ${ATTACKERS} of ${kind}: p99 ${p99Ms.toFixed(1)} ms, ${ratio.toFixed(2)} times`)
    if (ratio > BOUND) process.exitCode = 1
  }
} finally {
  if (service !== null) await stop(service)
  rmSync(folder, { recursive: true, force: true })
}
