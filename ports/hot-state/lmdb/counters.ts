/**
 * Counts hits in windows aligned to the clock, and tracked events per month.
 *
 * Windows are held in memory, in one map per window size that is dropped whole when its window ends. Counts of longer windows
 * are also stored once they reach a share of their limit: nearly all clients stay below it, and their random keys would cost
 * a disk page each. A window begins with what is stored of it. Usage is in the table. Changes since the last `save` are in memory only, so a crash loses those counts,
 * and at most that share of each long window.
 */

import { BoundedMap } from '../../../common/bounded-map.ts'
import type { Table } from '../../shared/lmdb/table.ts'

import type { Hit, HitOutcome, KnownUsage, UsageOutcome, UsageRequest } from '../hot-state.ts'
import { timeKey } from './time-key.ts'

/** Windows of an hour and longer outlive the process; of collection, only those of a day. */
const DURABLE_FROM_S = 3_600
/** A count is stored once it has reached a fiftieth of its limit. */
const STORED_FROM = 1 / 50
/** Bounds the memory of one window; the oldest keys are forgotten first, in the clients' favour. */
const MAX_KEYS_PER_WINDOW = 500_000
const AFTER_SLASH = '0'
/** Counts that are read when a window begins. */
const LOADED_MAX = 100_000
const USAGE_YEARS_KEPT = 2

interface Count {
  value: number
  /** A request was refused in this window, or for this month's quota. */
  isRefused: boolean
}

interface CountedWindow {
  readonly index: number
  /** Whether the table may hold counts of this window that are not in `counts`. */
  isPartial: boolean
  readonly counts: BoundedMap<string, Count>
}

interface UsageCounters {
  addUsage(usage: UsageRequest): UsageOutcome
  returnUsage(usage: UsageRequest): void
  readUsage(organization: string, month: string): number
  raiseUsage(usage: KnownUsage): void
}

interface Counters extends UsageCounters {
  countHits(hits: readonly Hit[]): HitOutcome
  returnHits(hits: readonly Hit[], agoMs: number): void
  hasUnsaved(): boolean
  /** Writes what changed to the table. */
  save(): void
  /** Deletes up to `limit` expired counts of each kind; returns how many. */
  sweep(limit: number): number
}

export function openCounters(table: Table, nowMs: () => number): Counters {
  const windows = new Map<number, CountedWindow>()
  const changed = new Map<string, Count>()

  const storedCount = (key: string): Count => changed.get(key) ?? readCount(table.get(key))
  const countOf = (hit: Hit, windowIndex: number): Count => {
    const { counts, isPartial } = windowOf(windows, table, hit.windowS, windowIndex)
    return (
      counts.get(hit.key) ?? (isPartial ? storedCount(windowKey(hit, windowIndex)) : { value: 0, isRefused: false })
    )
  }
  const keep = (hit: Hit, windowIndex: number, count: Count): void => {
    const window = windowOf(windows, table, hit.windowS, windowIndex)
    if (window.counts.get(hit.key) !== count) window.counts.set(hit.key, count)
    if (isLong(hit) && window.counts.size === MAX_KEYS_PER_WINDOW) window.isPartial = true
    if (isWorthStoring(hit, count)) changed.set(windowKey(hit, windowIndex), count)
  }
  return {
    countHits(hits) {
      const atMs = nowMs()
      const found = hits.map((hit) => {
        const windowIndex = Math.floor(atMs / (hit.windowS * 1000))
        return { hit, windowIndex, count: countOf(hit, windowIndex) }
      })
      const full = found.filter(({ hit, count }) => count.value >= hit.limit)
      for (const { hit, windowIndex, count } of full.length === 0 ? found : full) keep(hit, windowIndex, count)
      if (full.length === 0) return { kind: 'counted', counts: found.map(({ count }) => ++count.value) }
      const isFirst = full.some(({ count }) => !count.isRefused)
      for (const { count } of full) count.isRefused = true
      const exceeded = found.flatMap(({ hit, count }, index) => (count.value >= hit.limit ? [index] : []))
      return { kind: 'exceeded', exceeded, retryAfterS: retryAfterS(full, atMs), isFirst }
    },
    returnHits(hits, agoMs) {
      const atMs = nowMs()
      for (const hit of hits) {
        const windowIndex = Math.floor((atMs - agoMs) / (hit.windowS * 1000))
        if (windowIndex !== Math.floor(atMs / (hit.windowS * 1000))) continue
        const count = countOf(hit, windowIndex)
        if (count.value === 0) continue
        count.value--
        keep(hit, windowIndex, count)
      }
    },
    ...usageCounters(storedCount, changed),
    hasUnsaved: () => changed.size > 0,
    save() {
      for (const [key, count] of changed) table.put(key, `${count.value}${count.isRefused ? '!' : ''}`)
      changed.clear()
    },
    sweep(limit) {
      sweepWindows(windows, nowMs())
      const overHits = table.range({ start: 'hits/', end: `hits/${timeKey(nowMs())}`, limit })
      const overUsage = table.range({ start: 'usage/', end: `usage/${oldestMonth(nowMs())}`, limit })
      for (const { key } of [...overHits, ...overUsage]) table.remove(key)
      return overHits.length + overUsage.length
    },
  }
}

function usageCounters(storedCount: (key: string) => Count, changed: Map<string, Count>): UsageCounters {
  return {
    addUsage({ organization, month, quota }) {
      const key = usageKey(organization, month)
      const count = storedCount(key)
      changed.set(key, count)
      if (quota === null || count.value < quota) {
        return { used: ++count.value, isOver: false, isFirstOver: false }
      }
      const isFirstOver = !count.isRefused
      count.isRefused = true
      return { used: count.value, isOver: true, isFirstOver }
    },
    returnUsage({ organization, month }) {
      const key = usageKey(organization, month)
      const count = storedCount(key)
      if (count.value === 0) return
      count.value--
      changed.set(key, count)
    },
    raiseUsage({ organization, month, atLeast }) {
      const key = usageKey(organization, month)
      const count = storedCount(key)
      if (count.value >= atLeast) return
      count.value = atLeast
      changed.set(key, count)
    },
    readUsage: (organization, month) => storedCount(usageKey(organization, month)).value,
  }
}

function isLong(hit: Hit): boolean {
  return hit.windowS >= DURABLE_FROM_S
}

function isWorthStoring(hit: Hit, count: Count): boolean {
  return isLong(hit) && count.value + 1 >= hit.limit * STORED_FROM
}

function retryAfterS(full: readonly { readonly hit: Hit; readonly windowIndex: number }[], atMs: number): number {
  const endsAtMs = full.map(({ hit, windowIndex }) => (windowIndex + 1) * hit.windowS * 1000)
  return Math.max(1, Math.ceil((Math.max(...endsAtMs) - atMs) / 1000))
}

/**
 * A window is begun with the counts of it that are stored, which are few; from then on the table has no others, so that an
 * address that is new to the window need not be looked up there.
 */
function windowOf(windows: Map<number, CountedWindow>, table: Table, windowS: number, index: number): CountedWindow {
  const current = windows.get(windowS)
  if (current?.index === index) return current
  const counts = new BoundedMap<string, Count>(MAX_KEYS_PER_WINDOW)
  const start = windowPrefix(windowS, index)
  const isLong = windowS >= DURABLE_FROM_S
  const stored = isLong ? table.range({ start, end: `${start.slice(0, -1)}${AFTER_SLASH}`, limit: LOADED_MAX }) : []
  for (const { key, value } of stored) counts.set(key.slice(start.length), readCount(value))
  // What was counted in an earlier time of this same window may not be in the table yet.
  const isAgain = current !== undefined && current.index > index
  const window = { index, counts, isPartial: isLong && (isAgain || stored.length === LOADED_MAX) }
  windows.set(windowS, window)
  return window
}

function sweepWindows(windows: Map<number, CountedWindow>, atMs: number): void {
  for (const [windowS, { index }] of windows) {
    if (index !== Math.floor(atMs / (windowS * 1000))) windows.delete(windowS)
  }
}

function readCount(stored: string | undefined): Count {
  return { value: Number.parseInt(stored ?? '0', 10), isRefused: stored?.endsWith('!') === true }
}

/** Begins with the window's end, so that expired windows sort first. */
function windowPrefix(windowS: number, windowIndex: number): string {
  return `hits/${timeKey((windowIndex + 1) * windowS * 1000)}/`
}

function windowKey(hit: Hit, windowIndex: number): string {
  return `${windowPrefix(hit.windowS, windowIndex)}${hit.key}`
}

function usageKey(organization: string, month: string): string {
  return `usage/${month}/${organization}`
}

function oldestMonth(atMs: number): string {
  const now = new Date(atMs)
  return `${now.getUTCFullYear() - USAGE_YEARS_KEPT}-${String(now.getUTCMonth() + 1).padStart(2, '0')}`
}
