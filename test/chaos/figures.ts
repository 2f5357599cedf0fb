/** How long the service needs after a fault, and what it answers during it; as a page of Markdown. */

import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { newestInstalls } from '../../bin/tools/lists/newest-installs.ts'
import { jobIdOf } from '../../domain/delivery/deliveries.ts'
import type { Client } from './client.ts'
import { keyOf, type Call } from './history.ts'
import { CHAOS_ORGANIZATION } from './manifests.ts'
import type { ChaosService } from './service.ts'
import { hitsSince } from './stored.ts'

/** Of one fault, in ms. */
export interface Figure {
  readonly fault: string
  /** From its end to the first install that was begun afterwards, visit and all, and is stored; NaN if none was in time. */
  readonly storedMs: number
  /** The same until a provider took it. */
  readonly deliveredMs: number
  /** How long every answer of a process of the api failed, at most. */
  readonly silentMs: number
  readonly answered: readonly Answered[]
}

/** What one process of the api answered to calls that were sent during the fault. */
export interface Answered {
  readonly api: string
  readonly calls: number
  readonly ok: number
  /** Of calls that were sent more than ten seconds after its begin. */
  readonly lateCalls: number
  readonly lateOk: number
  readonly tookMs: readonly number[]
}

const RECOVER_MS = 120_000
const LOOK_MS = 200
const LATE_MS = 10_000

/** Looks until an install that was begun after `sinceMs` is stored and delivered; NaN for what takes too long. */
export async function recovery(
  service: ChaosService,
  client: Client,
  sinceMs: number,
): Promise<Pick<Figure, 'storedMs' | 'deliveredMs'>> {
  const untilMs = Date.now() + RECOVER_MS
  let storedMs = Number.NaN
  let deliveredMs = Number.NaN
  while (Date.now() < untilMs && (Number.isNaN(storedMs) || Number.isNaN(deliveredMs))) {
    await wait(LOOK_MS)
    const fresh = freshInstalls(client.calls, sinceMs)
    if (fresh.size === 0) continue
    if (Number.isNaN(deliveredMs)) deliveredMs = firstDelivery(service, fresh, sinceMs) - sinceMs
    if (Number.isNaN(storedMs) && (await isAnyStored(service, fresh, sinceMs))) storedMs = Date.now() - sinceMs
  }
  return { storedMs, deliveredMs }
}

/** Installs answered as matched to a visit that was made since then, by website and event ID. */
function freshInstalls(calls: readonly Call[], sinceMs: number): ReadonlyMap<string, Call> {
  const visits = new Set<string>()
  const fresh = new Map<string, Call>()
  for (const call of calls) {
    if (call.beganMs < sinceMs || call.outcome !== 'ok') continue
    if (call.event === null) visits.add(call.visit)
    else if ([...call.event.receipts, call.event.token].some((visit) => visits.has(visit))) {
      fresh.set(`${call.website}/${call.event.eventId}`, call)
    }
  }
  return fresh
}

function firstDelivery(service: ChaosService, fresh: ReadonlyMap<string, Call>, sinceMs: number): number {
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
  const ids = new Set(
    [...fresh.values()].map(({ website, event }) =>
      jobIdOf(
        { organization: CHAOS_ORGANIZATION, website, eventId: event?.eventId ?? '', destination: `${website}-ga4` },
        sha256,
      ),
    ),
  )
  const taken = hitsSince(service, sinceMs).filter(({ id, isTaken }) => isTaken && ids.has(id))
  return taken.length === 0 ? Number.NaN : Math.min(...taken.map(({ atMs }) => atMs))
}

async function isAnyStored(
  { facts }: ChaosService,
  fresh: ReadonlyMap<string, Call>,
  sinceMs: number,
): Promise<boolean> {
  const page = { since_ms: sinceMs, until_ms: Date.now() * 2, limit: 1_000 }
  const rows = await newestInstalls(facts, page).catch(() => [])
  return rows.some((row) => fresh.has(keyOf(row)))
}

/** What was answered to calls that were sent from `fromMs` to `untilMs`. */
export function answeredIn(calls: readonly Call[], fromMs: number, untilMs: number): Answered[] {
  const sent = calls.filter(({ beganMs }) => beganMs >= fromMs && beganMs <= untilMs)
  return [...Map.groupBy(sent, ({ api }) => api)]
    .map(([api, some]) => {
      const late = some.filter(({ beganMs }) => beganMs >= fromMs + LATE_MS)
      return {
        api,
        calls: some.length,
        ok: some.filter(isAnswer).length,
        lateCalls: late.length,
        lateOk: late.filter(isAnswer).length,
        tookMs: some.filter(({ status }) => status !== 0).map(({ beganMs, endedMs }) => endedMs - beganMs),
      }
    })
    .toSorted((one, other) => one.api.localeCompare(other.api))
}

/** A refusal that is right is an answer as well. */
const isAnswer = ({ status }: Call): boolean => status >= 200 && status < 500

const SLOWEST_SHOWN = 4

/** The slowest answers to calls that were sent since then, in words. */
export function slowest(calls: readonly Call[], fromMs: number): string {
  return calls
    .filter(({ beganMs, status }) => beganMs >= fromMs && status !== 0)
    .toSorted((one, other) => other.endedMs - other.beganMs - (one.endedMs - one.beganMs))
    .slice(0, SLOWEST_SHOWN)
    .map(({ kind, api, status, beganMs, endedMs }) => {
      return `${kind} to the ${api}: ${status} after ${endedMs - beganMs} ms (sent at ${beganMs - fromMs} ms)`
    })
    .join('; ')
}

/** The longest time in which a process of the api gave nothing but 5xx or no answer. */
export function longestSilenceMs(calls: readonly Call[], fromMs: number): number {
  let longestMs = 0
  for (const some of Map.groupBy(calls, ({ api }) => api).values()) {
    let sinceMs: number | null = null
    for (const call of some.toSorted((one, other) => one.endedMs - other.endedMs)) {
      if (call.beganMs < fromMs) continue
      if (isAnswer(call)) sinceMs = null
      else {
        sinceMs ??= call.beganMs
        longestMs = Math.max(longestMs, call.endedMs - sinceMs)
      }
    }
  }
  return longestMs
}

/** One row per fault: medians and the worst over all rounds; shares by process of the api, in the order of their names. */
export function figureTable(figures: readonly Figure[]): string {
  const apis = [...new Set(figures.flatMap(({ answered }) => answered.map(({ api }) => api)))].toSorted()
  const head = [
    `| Fault | Times | Stored, s | Delivered, s | Answered (${apis.join(' / ')}) | After 10 s | p99.9, s | Longest refusal, s |`,
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ]
  const rows = [...Map.groupBy(figures, ({ fault }) => fault)].map(([fault, some]) => {
    const answered = some.flatMap((one) => one.answered)
    const tookMs = answered.flatMap((one) => one.tookMs)
    const ofEach = (share: (some: readonly Answered[]) => string): string =>
      apis.map((api) => share(answered.filter((one) => one.api === api))).join(' / ')
    const cells = [
      fault,
      some.length,
      spanOf(some.map(({ storedMs }) => storedMs)),
      spanOf(some.map(({ deliveredMs }) => deliveredMs)),
      ofEach(shareInAll),
      ofEach(shareLater),
      seconds(quantile(tookMs, 0.999)),
      seconds(Math.max(...some.map(({ silentMs }) => silentMs))),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [...head, ...rows].join('\n')
}

function shareInAll(some: readonly Answered[]): string {
  return shareOf(sumOf(some, 'ok'), sumOf(some, 'calls'))
}

function shareLater(some: readonly Answered[]): string {
  return shareOf(sumOf(some, 'lateOk'), sumOf(some, 'lateCalls'))
}

function sumOf(some: readonly Answered[], what: 'ok' | 'calls' | 'lateOk' | 'lateCalls'): number {
  return some.reduce((total, one) => total + one[what], 0)
}

/** Median and worst; what took too long counts as the worst. */
function spanOf(values: readonly number[]): string {
  const sorted = values.map((value) => (Number.isNaN(value) ? Infinity : value)).toSorted((one, other) => one - other)
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  const worst = sorted.at(-1) ?? Number.NaN
  return sorted.length < 2 ? seconds(median) : `${seconds(median)} (${seconds(worst)})`
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function seconds(ms: number): string {
  if (ms === Infinity) return `over ${RECOVER_MS / 1_000}`
  return Number.isNaN(ms) ? '-' : (ms / 1_000).toFixed(1)
}

function shareOf(part: number, whole: number): string {
  return whole === 0 ? '-' : `${((part / whole) * 100).toFixed(1)} % of ${whole}`
}
