/**
 * Durable visits and install events per second of the embedded service, each with its ratio to bare node:http measured
 * in the same rounds. Server on core 0, wrk on core 1, 64 connections, a 900-byte visit; medians of the rounds.
 *
 * Use: node bench/http.ts [rounds] [seconds]
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../test/support/free-port.ts'
import {
  luaScript,
  measureBare,
  median,
  residentMb,
  startEmbedded,
  stop,
  waitFor,
  WARM_UP_S,
  writeManifests,
  wrk,
  type Figures,
  type Load,
} from './http-load.ts'

const ROUNDS = Number(process.argv[2] ?? 3)
const SECONDS = Number(process.argv[3] ?? 10)

async function measureService(
  load: Load,
  script: string,
): Promise<Figures & { restMb: number; loadMb: number; startMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
  writeManifests(join(folder, 'manifests'))
  const port = await freePort()
  const startedMs = performance.now()
  const child = startEmbedded(port, folder, join(folder, 'manifests'))
  await waitFor(`http://127.0.0.1:${port}/health`)
  const startMs = performance.now() - startedMs
  const restMb = residentMb(child.pid)
  wrk(port, script, WARM_UP_S)
  const figures = wrk(port, script, SECONDS, child.pid)
  const loadMb = residentMb(child.pid)
  await stop(child)
  rmSync(folder, { recursive: true, force: true })
  console.log(`  ${load}: ${JSON.stringify({ ...figures, restMb, loadMb, startMs })}`)
  return { ...figures, restMb, loadMb, startMs }
}

const scripts = mkdtempSync(join(tmpdir(), 'whence-bench-lua-'))
for (const load of ['visit', 'event'] as const) {
  const script = join(scripts, `${load}.lua`)
  writeFileSync(script, luaScript(load))
  const bare: Figures[] = []
  const service: Awaited<ReturnType<typeof measureService>>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await measureBare(script, SECONDS))
    service.push(await measureService(load, script))
  }
  const rate = median(service.map(({ perSecond }) => perSecond))
  const ceiling = median(bare.map(({ perSecond }) => perSecond))
  console.log(
    `durable ${load}s: ${Math.round(rate)}/s, ${(rate / ceiling).toFixed(2)} of bare node:http (${Math.round(ceiling)}/s)`,
  )
  console.log(
    `  p50 ${median(service.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms, p99 ${median(service.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms, not 2xx: ${service.reduce((sum, { non2xx }) => sum + non2xx, 0)}`,
  )
  console.log(
    `  resident: at rest ${Math.round(median(service.map(({ restMb }) => restMb)))} MB, after load ${Math.round(median(service.map(({ loadMb }) => loadMb)))} MB; start ${Math.round(median(service.map(({ startMs }) => startMs)))} ms`,
  )
}
rmSync(scripts, { recursive: true, force: true })
