/**
 * Measures the role `webhooks`: `node bench/dashboard/webhooks.ts [rounds] [events]`.
 *
 * Each run is a separate process on core 0, with a real LMDB log onto which matched installs are appended once the role consumes it; the
 * receiver speaks TLS and is another process on core 1. Prints medians of the rounds: events sent per second and processor time for
 * each, with one webhook and with ten of ten organisations; and what an install costs that nobody wants an event of, above one in an
 * installation without webhooks.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { WebhookEventType } from '../../domain/model.ts'
import type { Entry, EventLog } from '../../ports/event-log/event-log.ts'
import { lmdbEventLog } from '../../ports/event-log/lmdb/lmdb.ts'
import { openLmdb } from '../../ports/shared/lmdb/environment.ts'
import { bareRate } from '../support/http-load.ts'
import { median, needTools, roundsFrom } from '../support/rounds.ts'
import { matchedInstall, organizationsWith, receiveWith, startWebhookRole, type ReceiverPlace } from './webhook-role.ts'

const WARM_UP = 1_000
const APPEND_ENTRIES = 500
const PATIENCE_MS = 120_000
const SELF = fileURLToPath(import.meta.url)

interface SentPlan {
  readonly events: number
  /** Organisations that take turns. */
  readonly organizations: number
  /** What the webhook of each wants; null if it has none. */
  readonly wanted: WebhookEventType | null
}

interface SentRun {
  readonly perS: number
  readonly cpuUs: number
}

const [mode = '3', text = ''] = process.argv.slice(2)
if (mode === '--one') console.log(JSON.stringify(await measure(JSON.parse(text) as SentPlan)))
else if (mode === '--receiver') receive()
else await main(roundsFrom(mode, 3), Number(text === '' ? 5_000 : text))

async function main(rounds: number, events: number): Promise<void> {
  needTools('taskset')
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-hooks-'))
  const bare = await bareRate(folder)
  await rm(folder, { recursive: true })
  const plans = {
    one: { events, organizations: 1, wanted: 'install.matched' },
    ten: { events, organizations: 10, wanted: 'install.matched' },
    unwanted: { events: events * 4, organizations: 10, wanted: 'plan.changed' },
    none: { events: events * 4, organizations: 10, wanted: null },
  } as const satisfies Record<string, SentPlan>
  const runs: Record<keyof typeof plans, SentRun[]> = { one: [], ten: [], unwanted: [], none: [] }
  // In turns, so that other load on the machine affects all.
  for (let round = 0; round < rounds; round += 1)
    for (const [name, plan] of Object.entries(plans)) runs[name as keyof typeof plans].push(await inProcess(plan))
  const middle = (name: keyof typeof plans, pick: (run: SentRun) => number): number => median(runs[name].map(pick))
  for (const [name, what] of [
    ['one', 'one webhook'],
    ['ten', 'ten webhooks of ten organisations'],
  ] as const) {
    const perS = middle(name, (run) => run.perS)
    const cpuUs = middle(name, (run) => run.cpuUs)
    console.log(`${what}: ${perS.toFixed(0)} events/s, ${cpuUs.toFixed(0)} us CPU each, appends included`)
  }
  const unwanted = middle('unwanted', (run) => run.cpuUs)
  const none = middle('none', (run) => run.cpuUs)
  const more = median(runs.unwanted.map(({ cpuUs }, round) => cpuUs - (runs.none[round]?.cpuUs ?? Number.NaN)))
  console.log(
    `an install without a wanted event: ${unwanted.toFixed(1)} us CPU, without webhooks ${none.toFixed(1)} us`,
  )
  console.log(`  more for each: ${more.toFixed(1)} us (median of ${rounds} pairs)`)
  console.log(`  load ${loadavg()[0]?.toFixed(1)}, bare node:http ${bare.toFixed(0)}/s`)
}

async function inProcess(plan: SentPlan): Promise<SentRun> {
  const words = ['-c', '0', process.execPath, SELF, '--one', JSON.stringify(plan)]
  const child = spawn('taskset', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`a run ended with ${code}`)
  return JSON.parse(printed) as SentRun
}

/** Prints its port and certificate, and takes every event until it is ended. */
function receive(): void {
  receiveWith((request, response) => void request.resume().on('end', () => response.writeHead(204).end()))
}

async function measure(plan: SentPlan): Promise<SentRun> {
  const receiver = spawn('taskset', ['-c', '1', process.execPath, SELF, '--receiver'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const folder = await mkdtemp(join(tmpdir(), 'whence-bench-hooks-'))
  const onFatal = (error: Error): void => {
    throw error
  }
  const environment = await openLmdb(folder, { nowMs: Date.now, onFatal })
  const log = await lmdbEventLog(environment)
  try {
    const [printed] = (await once(receiver.stdout, 'data')) as [Buffer]
    return await send(plan, log, JSON.parse(printed.toString()) as ReceiverPlace)
  } finally {
    receiver.kill()
    await log.close()
    await environment.close()
    await rm(folder, { recursive: true })
  }
}

async function send(plan: SentPlan, log: EventLog, place: ReceiverPlace): Promise<SentRun> {
  const ids = Array.from({ length: plan.organizations }, (_, index) => `org-${index}`)
  const organizations = organizationsWith(ids, plan.wanted)
  let sent = 0
  const append: EventLog['append'] = async (topic, entries, options) => {
    await log.append(topic, entries, options)
    if (topic === 'webhook_attempts') sent += entries.length
  }
  const counted = { append, consume: log.consume.bind(log), readLast: log.readLast.bind(log) }
  const role = await startWebhookRole(counted, organizations, place)
  const isWanted = plan.wanted === 'install.matched'
  const isDone = async (expected: number): Promise<boolean> => {
    if (isWanted) return sent >= expected
    const { done, ends } = await log.progress('installs', 'webhooks')
    return ends.every((end, partition) => end === done[partition])
  }
  const first = entriesOf(plan, WARM_UP, 0)
  const entries = entriesOf(plan, plan.events, WARM_UP)
  await appendAll(log, first)
  await reached(() => isDone(WARM_UP))
  const startedAtMs = performance.now()
  const cpu = process.cpuUsage()
  await appendAll(log, entries)
  await reached(() => isDone(WARM_UP + plan.events))
  const { user, system } = process.cpuUsage(cpu)
  const tookS = (performance.now() - startedAtMs) / 1_000
  await role.close()
  return { perS: plan.events / tookS, cpuUs: (user + system) / plan.events }
}

function entriesOf({ organizations }: SentPlan, count: number, first: number): readonly Entry[] {
  return Array.from({ length: count }, (_, index) =>
    matchedInstall(`org-${index % organizations}`, `event-${first + index}`),
  )
}

async function appendAll(log: EventLog, entries: readonly Entry[]): Promise<void> {
  for (let from = 0; from < entries.length; from += APPEND_ENTRIES)
    await log.append('installs', entries.slice(from, from + APPEND_ENTRIES), { deadlineMs: 60_000 })
}

async function reached(isMet: () => Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + PATIENCE_MS
  while (!(await isMet())) {
    if (performance.now() > endsAtMs) throw new Error('the events were not sent in time')
    await wait(5)
  }
}
