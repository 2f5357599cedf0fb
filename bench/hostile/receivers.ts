/**
 * What receivers that answer late cost another organisation: how long after its event an organisation's webhook is called, alone, and beside 50
 * webhooks of other organisations whose receivers take 9 s for each of five events a second. In pairs of windows, each with processes
 * and a log of its own; the role on one core, the receivers on another.
 *
 * Use: node bench/hostile/receivers.ts [pairs] [seconds of a window] [slow receivers]
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { Entry } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { bareRate } from '../support/http-load.ts'
import { needTools, roundsFrom } from '../support/rounds.ts'
import {
  matchedInstall,
  organizationsWith,
  receiveWith,
  startWebhookRole,
  type ReceiverPlace,
} from '../dashboard/webhook-role.ts'
import { measurePairs, PAIRS } from './paired-windows.ts'

const SLOW_MS = 9_000
const TICK_MS = 100
const SLOW_PER_S = 5
/** After the last event, for those on their way. */
const REST_MS = 3_000
const SELF = fileURLToPath(import.meta.url)

interface WindowOf {
  readonly seconds: number
  /** Webhooks whose receivers are slow. */
  readonly slow: number
}

interface Latencies {
  readonly p50: number
  readonly p99: number
  /** Events of the honest organisation that did not arrive. */
  readonly missing: number
}

const [mode = '', text = '', more = ''] = process.argv.slice(2)
if (mode === '--one') console.log(JSON.stringify(await measure(JSON.parse(text) as WindowOf)))
else if (mode === '--receiver') receive()
else process.exitCode = await main(mode, Number(text === '' ? 20 : text), Number(more === '' ? 50 : more))

async function main(pairs: string, seconds: number, slow: number): Promise<number> {
  needTools('taskset', 'wrk')
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-receivers-'))
  const bare = await bareRate(folder)
  await rm(folder, { recursive: true })
  const isHeld = await measurePairs({
    pairs: roundsFrom(pairs === '' ? undefined : pairs, PAIRS),
    figures: {
      p50: { name: 'p50 of an event until its webhook is called, ms' },
      p99: { name: 'p99 of an event until its webhook is called, ms', mayBe: { times: 1.5, orMore: 200 } },
      missing: { name: 'events that did not arrive', mayBe: { times: 1, orMore: 0 } },
    },
    measure: (kind) => inProcess({ seconds, slow: kind === 'alone' ? 0 : slow }),
  })
  console.log(`load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s`)
  return isHeld ? 0 : 1
}

async function inProcess(plan: WindowOf): Promise<Latencies & Record<string, number>> {
  const words = ['-c', '0', process.execPath, SELF, '--one', JSON.stringify(plan)]
  const child = spawn('taskset', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`a window ended with ${code}`)
  return JSON.parse(printed) as Latencies & Record<string, number>
}

/** Prints its port and certificate, and then how long each event of the honest organisation took. Answers others late. */
function receive(): void {
  receiveWith((request, response) => {
    const isHonest = request.url === '/honest'
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      if (!isHonest) return void setTimeout(() => response.writeHead(204).end(), SLOW_MS)
      const { timestamp } = JSON.parse(body) as { readonly timestamp: string }
      console.log(Date.now() - Date.parse(timestamp))
      response.writeHead(204).end()
    })
  })
}

async function measure(plan: WindowOf): Promise<Latencies> {
  const receiver = spawn('taskset', ['-c', '1', process.execPath, SELF, '--receiver'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-receivers-'))
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(folder, { nowMs: Date.now, onFatal })
  const log = await lmdbEventLog(environment, { pace: { inHandMs: 0 } })
  try {
    const tookMs: number[] = []
    const lines = createInterface({ input: receiver.stdout })
    const [head] = (await once(lines, 'line')) as [string]
    lines.on('line', (line) => tookMs.push(Number(line)))
    const ids = ['honest', ...Array.from({ length: plan.slow }, (_, place) => `slow-${place}`)]
    const organizations = organizationsWith(ids, 'install.matched')
    const role = await startWebhookRole(log, organizations, JSON.parse(head) as ReceiverPlace)
    const sent = await appendFor(plan, (entries) => log.append('installs', entries, { deadlineMs: 60_000 }))
    await wait(REST_MS)
    await role.close()
    const sorted = tookMs.toSorted((one, other) => one - other)
    const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
    return { p50: at(0.5), p99: at(0.99), missing: sent - tookMs.length }
  } finally {
    receiver.kill()
    await log.close()
    await environment.close()
    await rm(folder, { recursive: true })
  }
}

/** Resolves with how many of the honest organisation there were. */
async function appendFor(
  { seconds, slow }: WindowOf,
  append: (entries: readonly Entry[]) => Promise<void>,
): Promise<number> {
  const beganAtMs = performance.now()
  let honest = 0
  let others = 0
  for (let tick = 0; tick * TICK_MS < seconds * 1_000; tick += 1) {
    const wanted = Math.floor((slow * SLOW_PER_S * (tick + 1) * TICK_MS) / 1_000)
    const entries = [matchedInstall('honest', `honest-${honest}`)]
    honest += 1
    for (; others < wanted; others += 1) {
      const organization = `slow-${others % slow}`
      entries.push(matchedInstall(organization, `${organization}-${others}`))
    }
    await append(entries)
    await wait(Math.max(0, beganAtMs + (tick + 1) * TICK_MS - performance.now()))
  }
  return honest
}
