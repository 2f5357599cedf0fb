/**
 * Durable visits and install events per second of the embedded service, each with its ratio to bare node:http measured
 * in the same rounds. Server on core 0, wrk on core 1, 64 connections, a 900-byte visit; medians of the rounds.
 *
 * Of install events there are two rows: the cheapest one, without a receipt or destination, and a matched one, which is
 * resolved, planned and delivered to a live GA4 destination. What a request costs is also counted until the service is
 * quiet again: rows, jobs and deliveries come after the answer.
 *
 * Use: node bench/http.ts [rounds] [seconds] [visit,event,matched]
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../fixtures/engines/free-port.ts'
import {
  activatedVisits,
  cpuSeconds,
  cpuWhenQuiet,
  luaScript,
  measureBare,
  residentFilesMb,
  residentMb,
  startEmbedded,
  stop,
  waitFor,
  WARM_UP_S,
  writeManifests,
  wrk,
  type Figures,
  type Load,
} from './support/http-load.ts'
import { median, needTools, roundsFrom } from './support/rounds.ts'

const LOADS: readonly Load[] = ['visit', 'event', 'matched']
const ROUNDS = roundsFrom(process.argv[2], 3)
const SECONDS = Number(process.argv[3] ?? 10)
const wanted = (process.argv[4] ?? LOADS.join()).split(',')

interface Measured extends Figures {
  readonly restMb: number
  readonly loadMb: number
  /** Pages of files that have become resident between the two. */
  readonly mappedMb: number
  readonly startMs: number
  /** Of processor time for each request, until the service is quiet again. */
  readonly quietUs: number
}

async function measureService(load: Load, script: string, ga4Url: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
  const manifests = join(folder, 'manifests')
  writeManifests(manifests, load)
  const port = await freePort()
  const startedMs = performance.now()
  const child = startEmbedded(port, { folder, manifests, ga4Url })
  try {
    await waitFor(`http://127.0.0.1:${port}/health`)
    const startMs = performance.now() - startedMs
    const restMb = residentMb(child.pid)
    const filesMb = residentFilesMb(child.pid)
    writeFileSync(script, luaScript(load, load === 'matched' ? await activatedVisits(port) : []))
    wrk(port, script, WARM_UP_S)
    const beforeS = await cpuWhenQuiet(child.pid)
    const figures = wrk(port, script, SECONDS, { pid: child.pid })
    const loadMb = residentMb(child.pid)
    const mappedMb = residentFilesMb(child.pid) - filesMb
    const quietUs = (((await cpuWhenQuiet(child.pid)) - beforeS) / figures.requests) * 1e6
    const measured = { ...figures, restMb, loadMb, mappedMb, startMs, quietUs }
    console.log(`  ${load}: ${JSON.stringify({ ...measured, cpuS: cpuSeconds(child.pid) })}`)
    return measured
  } finally {
    await stop(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

function tell(load: Load, service: readonly Measured[], bare: readonly Figures[]): void {
  const of = (key: keyof Measured): number => median(service.map((each) => each[key]))
  const rate = of('perSecond')
  const ceiling = median(bare.map(({ perSecond }) => perSecond))
  const what = { visit: 'visits', event: 'events without a receipt or destination', matched: 'matched events' }[load]
  const ratio = (rate / ceiling).toFixed(2)
  console.log(`durable ${what}: ${rate.toFixed(0)}/s, ${ratio} of bare node:http (${ceiling.toFixed(0)}/s)`)
  console.log(`  p50 ${of('p50Ms').toFixed(1)} ms, p99 ${of('p99Ms').toFixed(1)} ms, every answer 2xx`)
  console.log(`  ${of('quietUs').toFixed(0)} us of processor time each, until nothing is left to do`)
  const mb = (key: 'restMb' | 'loadMb' | 'mappedMb'): string => of(key).toFixed(0)
  const mapped = `of which ${mb('mappedMb')} MB are pages of files mapped meanwhile`
  console.log(`  resident: at rest ${mb('restMb')} MB, after load ${mb('loadMb')} MB, ${mapped}`)
  console.log(`  start ${of('startMs').toFixed(0)} ms`)
}

/** On core 1, beside wrk: what it costs must not be the service's. */
function startStandIn(port: number): ChildProcess {
  return spawn('taskset', ['-c', '1', process.execPath, 'bench/support/ga4-stand-in.ts', String(port)], {
    cwd: new URL('..', import.meta.url).pathname,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

needTools('wrk', 'taskset')
const unknown = wanted.filter((word) => !LOADS.some((load) => load === word))
if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; there are: ${LOADS.join(', ')}`)
const scripts = mkdtempSync(join(tmpdir(), 'whence-bench-lua-'))
const ga4Port = await freePort()
const standIn = startStandIn(ga4Port)
try {
  for (const load of LOADS.filter((each) => wanted.includes(each))) {
    const script = join(scripts, `${load}.lua`)
    const bareScript = join(scripts, 'bare.lua')
    writeFileSync(bareScript, luaScript(load === 'visit' ? 'visit' : 'event'))
    const bare: Figures[] = []
    const service: Measured[] = []
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(await measureBare(bareScript, SECONDS))
      service.push(await measureService(load, script, `http://127.0.0.1:${ga4Port}`))
    }
    tell(load, service, bare)
  }
} finally {
  await stop(standIn)
  rmSync(scripts, { recursive: true, force: true })
}
