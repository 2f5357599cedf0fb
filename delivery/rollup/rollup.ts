/**
 * Role `rollup`: keeps one row of figures for each website and hour. An hour is marked after its facts are written. The
 * version of a row says which marks existed before its facts were read, so that later facts are noticed. Every step can
 * be repeated, and a kill between any two loses nothing.
 */

import { randomUUID } from 'node:crypto'

import { Counter, Gauge, type Registry } from 'prom-client'

import { hourOf } from '../../domain/durations.ts'
import { hourCells, hourRetention } from '../../domain/figures/hour-row.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import { EVENTS_AT_ONCE } from '../../ports/facts/counting.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import { HOUR_ROWS_MAX } from '../../ports/facts/pages/raw-figures.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import type { Logger } from '../../runtime/logger.ts'
import { countInstalls, type EventKey } from '../counting/count-installs.ts'
import { countErasures } from '../facts-writer/erasures.ts'
import { createHourMarks, textOfMark, type HourMarks } from '../counting/hour-marks.ts'
import { repeat } from '../repeat.ts'
import { stoppableFacts } from '../stopping.ts'
import {
  FACTS_AT_ONCE,
  halvesOf,
  hourKey,
  partsToCount,
  viewsOf,
  type DirtyHour,
  type HourFacts,
  type HoursToCount,
} from './parts.ts'
import { storeVisitHours } from './visit-hours.ts'

interface CountedFacts {
  readonly facts: FactsReader & FactsWriter
  readonly nowMs: () => number
}

interface RollupDeps extends CountedFacts {
  readonly logger: Logger
  readonly registry?: Registry
}

/** An hour with many late records is counted again at most this often. */
const EVERY_MS = 30_000
const HOURS_AT_ONCE = 1_000
/** Each insert makes a part, which is synced, and merged with others later. */
const HOURS_PER_INSERT = 10

/** Starts at once. `close` resolves when the current hours are counted, or given up. */
export function startRollup({ facts, logger, nowMs, registry }: RollupDeps): { readonly close: () => Promise<void> } {
  const metrics = createRollupMetrics(registry)
  return repeat({
    act: (stopping) => rollUp({ facts: stoppableFacts(facts, stopping), nowMs }, { metrics, signal: stopping.signal }),
    everyMs: EVERY_MS,
    onFailure: (reason) => logger.warn({ reason, task: 'rollup' }, 'figures could not be updated; retrying'),
  })
}

interface RollUpOptions {
  readonly metrics?: RollupMetrics | null
  readonly signal?: AbortSignal
  /** Page views and install events that are counted together; `FACTS_AT_ONCE` if absent. */
  readonly factsAtOnce?: number
}

/**
 * Counts every marked hour that has ended. Rejects like `Facts`; hours counted until then are stored.
 * @internal
 */
export async function rollUp({ facts, nowMs }: CountedFacts, options: RollUpOptions = {}): Promise<void> {
  const { metrics, signal } = options
  const counting = { facts, marks: createHourMarks(randomUUID(), nowMs) }
  await countAgain(counting, await facts.run('eventsWithLateVisits', {}))
  // Hours that have not ended are read from the facts.
  const until = hourOf(nowMs())
  let isMore = true
  while (isMore) {
    const dirty = await facts.run('dirtyHours', { until_ms: until, limit: HOURS_AT_ONCE })
    metrics?.open(dirty.length)
    const areOthersMarked = await countAll(counting, dirty, options)
    if (signal?.aborted ?? false) return
    isMore = dirty.length === HOURS_AT_ONCE || areOthersMarked
  }
}

/** Facts, and the marks for hours of visits that judging an install changes. */
interface CountingFacts {
  readonly facts: RollupDeps['facts']
  readonly marks: HourMarks
}

type HourCell = QueryRow<'hourFunnel'>

/**
 * Counts these hours in parts. If one cannot be counted, those before it are stored. Resolves with whether other hours are marked: what visits did in
 * these changes them.
 */
async function countAll(
  counting: CountingFacts,
  dirty: readonly DirtyHour[],
  { metrics, signal, factsAtOnce = FACTS_AT_ONCE }: RollUpOptions,
): Promise<boolean> {
  let areOthersMarked = false
  const { facts } = counting
  const rows: RowOf<'website_hours'>[] = []
  const store = async (): Promise<void> => {
    const counted = rows.splice(0)
    if (counted.length === 0) return
    await facts.insert('website_hours', counted)
    metrics?.counted(counted.length)
  }
  try {
    for await (const part of partsToCount(facts, dirty, factsAtOnce)) {
      const counted = await countPart(counting, part)
      rows.push(...counted.rows)
      areOthersMarked ||= counted.areOthersMarked
      if (rows.length >= HOURS_PER_INSERT) await store()
      if (signal?.aborted ?? false) break
    }
  } finally {
    await store()
  }
  return areOthersMarked
}

interface CountedPart {
  readonly rows: readonly RowOf<'website_hours'>[]
  readonly areOthersMarked: boolean
}

async function countPart({ facts, marks }: CountingFacts, part: HoursToCount): Promise<CountedPart> {
  if (part.hasFacts) await recountInstalls({ facts, marks }, part)
  const own = new Set(part.hours.map(hourKey))
  const made = part.hasSittings ? await storeVisitHours(facts, viewsOf(part), marks) : []
  const ownMarks = new Map(made.map((mark) => [hourKey({ ...mark, hour_ms: mark.hour }), textOfMark(mark)]))
  const cells = part.hasFacts ? await countedCells(facts, part) : NO_CELLS
  return {
    rows: part.hours.map((hour) => {
      const key = hourKey(hour)
      return hourRow(hour, { cells: cells.get(key) ?? [], known: part.known.get(key), ownMark: ownMarks.get(key) })
    }),
    areOthersMarked: [...ownMarks.keys()].some((key) => !own.has(key)),
  }
}

const NO_CELLS: ReadonlyMap<string, readonly HourCell[]> = new Map()

/** The counted cells of each of these hours. They are read only after the marks were. */
async function countedCells(
  facts: RollupDeps['facts'],
  part: HoursToCount,
): Promise<ReadonlyMap<string, readonly HourCell[]>> {
  const views = viewsOf(part)
  const { key_ids: keyIds, ...period } = views
  const funnel = keyIds.length === 0 ? [] : await facts.run('hourFunnel', views)
  const tracked = await facts.run('hourTracked', period)
  const deliveries = tracked.length === 0 ? [] : await facts.run('hourDeliveries', period)
  const halves = halvesOf(part)
  const isCut = [funnel, tracked, deliveries].some((rows) => rows.length >= HOUR_ROWS_MAX)
  if (!isCut || halves === null) return Map.groupBy([...funnel, ...tracked, ...deliveries], hourKey)
  const apart: (readonly [string, readonly HourCell[]])[] = []
  for (const half of halves) apart.push(...(await countedCells(facts, half)))
  return new Map(apart)
}

/** Judges the install events of these websites in their hours again: two writers may have judged without each other's. */
async function recountInstalls({ facts, marks }: CountingFacts, part: HoursToCount): Promise<void> {
  const { organizations, websites, until_ms, ...period } = viewsOf(part)
  for (let since_ms = period.since_ms; ;) {
    const page = { organizations, websites, since_ms, until_ms, limit: EVENTS_AT_ONCE }
    const events = await facts.run('eventsReceived', page)
    await countAgain({ facts, marks }, events)
    const last = events.at(-1)
    if (last === undefined || events.length < EVENTS_AT_ONCE) return
    // Events of the last millisecond may be on the next page, too; more than a page of them cannot be.
    since_ms = Math.max(last.received_at_ms, since_ms + 1)
  }
}

async function countAgain({ facts, marks }: CountingFacts, events: readonly EventKey[]): Promise<void> {
  if (events.length === 0) return
  let erasures = await countErasures(facts)
  const isStillRight = async (): Promise<boolean> => {
    const before = erasures
    erasures = await countErasures(facts)
    return erasures === before
  }
  await countInstalls(facts, events, { marks, isStillRight })
}

interface CountedHour {
  readonly cells: readonly HourCell[]
  readonly known: HourFacts | undefined
  /** The mark that this process itself made before it counted, if there is one. */
  readonly ownMark: string | undefined
}

function hourRow(
  { organization, website, hour_ms: hour, marks, retention_days: before, row_version: version }: DirtyHour,
  { cells, known, ownMark }: CountedHour,
): RowOf<'website_hours'> {
  return {
    organization,
    website,
    hour,
    marks_read: ownMark === undefined ? marks : [...marks, ownMark],
    ...hourCells(cells),
    retention_days: hourRetention(known?.days ?? 0, before),
    row_version: version + 1,
  }
}

interface RollupMetrics {
  readonly open: (hours: number) => void
  readonly counted: (hours: number) => void
}

function createRollupMetrics(registry: Registry | undefined): RollupMetrics | null {
  if (registry === undefined) return null
  const registers = [registry]
  const counted = new Counter({
    name: 'whence_rollup_hours_total',
    help: 'Hours of websites counted.',
    registers,
  })
  const open = new Gauge({
    name: 'whence_rollup_open_hours',
    help: 'Hours of websites to be counted when last read; 1,000 stands for 1,000 or more.',
    registers,
  })
  return { open: (hours) => open.set(hours), counted: (hours) => counted.inc(hours) }
}
