/**
 * Role `rollup`: keeps one row of figures for each website and hour. An hour is marked after its facts are written. The
 * version of a row says which marks existed before its facts were read, so that later facts are noticed. Every step can
 * be repeated, and a kill between any two loses nothing.
 */

import { randomUUID } from 'node:crypto'

import { Counter, Gauge, type Registry } from 'prom-client'

import { HOUR_MS, hourOf } from '../../domain/durations.ts'
import { hourCells, hourRetention } from '../../domain/figures/hour-row.ts'
import { ownerKey } from '../../domain/records.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import { EVENTS_AT_ONCE } from '../../ports/facts/counting.ts'
import type { FactsReader, FactsWriter } from '../../ports/facts/facts.ts'
import { HOUR_ROWS_MAX } from '../../ports/facts/pages/raw-figures.ts'
import type { RawPeriod } from '../../ports/facts/pages/ranges.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import { ownersOf, type OwnerKeys } from '../../ports/facts/query-parts.ts'
import type { Logger } from '../../runtime/logger.ts'
import { countInstalls, type EventKey } from '../counting/count-installs.ts'
import { countErasures } from '../facts-writer/erasures.ts'
import { createHourMarks, type HourMarks } from '../counting/hour-marks.ts'
import { repeat } from '../repeat.ts'
import { stoppableFacts } from '../stopping.ts'
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
const HOURS_AT_ONCE = 100
/** Each insert makes a part, which is synced, and merged with others later. */
const HOURS_PER_INSERT = 10
/** Bounds the memory of one statement, and its rows: a visit has some ten cells. */
const FACTS_AT_ONCE = 5_000

/** Starts at once. `close` resolves when the current hour is counted, or given up. */
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
    const haveVisitsChanged = await countAll(counting, dirty, options)
    if (signal?.aborted ?? false) return
    isMore = dirty.length === HOURS_AT_ONCE || haveVisitsChanged
  }
}

/** Facts, and the marks for hours of visits that judging an install changes. */
interface CountingFacts {
  readonly facts: RollupDeps['facts']
  readonly marks: HourMarks
}

type DirtyHour = QueryRow<'dirtyHours'>
type HourFacts = QueryRow<'hourFacts'>
type WebsiteCell = QueryRow<'hourFunnel'>

/**
 * One insert stores some hours. If one cannot be counted, those before it are stored. Resolves with whether visits of other hours have changed
 * with these: those hours are marked.
 */
async function countAll(
  counting: CountingFacts,
  dirty: readonly DirtyHour[],
  { metrics, signal }: RollUpOptions,
): Promise<boolean> {
  let haveVisitsChanged = false
  const { facts } = counting
  const rows: RowOf<'website_hours'>[] = []
  const store = async (): Promise<void> => {
    const counted = rows.splice(0)
    if (counted.length === 0) return
    await facts.insert('website_hours', counted)
    metrics?.counted(counted.length)
  }
  try {
    for await (const { part, known } of partsToCount(facts, dirty)) {
      const withFacts = part.filter((hour) => known.has(ownerKey(hour)))
      await recountInstalls(counting, withFacts)
      const withSittings = part.filter((hour) => (known.get(ownerKey(hour))?.sittings ?? 0) > 0)
      if (withSittings.length > 0 && (await storeVisitHours(facts, viewsOf(withSittings, known), counting.marks)))
        haveVisitsChanged = true
      const cells = await countedCells(facts, withFacts, known)
      rows.push(...part.map((each) => hourRow(each, cells.get(ownerKey(each)) ?? [], known.get(ownerKey(each)))))
      if (rows.length >= HOURS_PER_INSERT) await store()
      if (signal?.aborted ?? false) break
    }
  } finally {
    await store()
  }
  return haveVisitsChanged
}

/** Websites of one hour, to be counted together, with what there is of each. The oldest first: when a visit began is known from the hour before. */
async function* partsToCount(facts: RollupDeps['facts'], dirty: readonly DirtyHour[]) {
  for (const hour of Map.groupBy(dirty.toReversed(), ({ hour_ms }) => hour_ms).values()) {
    const known = new Map((await facts.run('hourFacts', hourPeriod(hour))).map((row) => [ownerKey(row), row]))
    for (const part of partsOf(hour, known)) yield { part, known }
  }
}

/**
 * Websites that have few facts are counted together, since a statement costs much the same for one of them as for a hundred;
 * one that has more alone.
 */
function partsOf(
  dirty: readonly DirtyHour[],
  known: ReadonlyMap<string, HourFacts>,
): readonly (readonly DirtyHour[])[] {
  const parts: DirtyHour[][] = []
  let left = 0
  for (const hour of dirty) {
    const own = known.get(ownerKey(hour))?.facts ?? 0
    const part = parts.at(-1)
    if (part !== undefined && own <= left) {
      part.push(hour)
      left -= own
    } else {
      parts.push([hour])
      left = FACTS_AT_ONCE - own
    }
  }
  return parts
}

/** The counted cells of each of these websites, which have facts. They are read only after the marks were. */
async function countedCells(
  facts: RollupDeps['facts'],
  part: readonly DirtyHour[],
  known: ReadonlyMap<string, HourFacts>,
): Promise<ReadonlyMap<string, readonly WebsiteCell[]>> {
  if (part.length === 0) return new Map()
  const period = hourPeriod(part)
  const views = viewsOf(part, known)
  const funnel = views.key_ids.length === 0 ? [] : await facts.run('hourFunnel', views)
  const tracked = await facts.run('hourTracked', period)
  const deliveries = tracked.length === 0 ? [] : await facts.run('hourDeliveries', period)
  const isCut = [funnel, tracked, deliveries].some((rows) => rows.length >= HOUR_ROWS_MAX)
  if (!isCut || part.length === 1) return Map.groupBy([...funnel, ...tracked, ...deliveries], ownerKey)
  const apart: (readonly [string, readonly WebsiteCell[]])[] = []
  for (const hour of part) apart.push(...(await countedCells(facts, [hour], known)))
  return new Map(apart)
}

/** The page views of an hour: also of no key, if there is none. */
function viewsOf(part: readonly DirtyHour[], known: ReadonlyMap<string, HourFacts>) {
  const keyIds = new Set(part.flatMap((hour) => known.get(ownerKey(hour))?.key_ids ?? []))
  return { ...hourPeriod(part), key_ids: [...keyIds] }
}

/** Judges the install events of these websites in their hour again: two writers may have judged without each other's. */
async function recountInstalls({ facts, marks }: CountingFacts, part: readonly DirtyHour[]): Promise<void> {
  if (part.length === 0) return
  const { organizations, websites, until_ms, ...period } = hourPeriod(part)
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

function hourPeriod(hours: readonly DirtyHour[]): RawPeriod & OwnerKeys {
  const hour = hours[0]?.hour_ms ?? 0
  return { ...ownersOf(hours), since_ms: hour, until_ms: hour + HOUR_MS }
}

function hourRow(
  { organization, website, hour_ms: hour, marks, retention_days: before, row_version: version }: DirtyHour,
  cells: readonly WebsiteCell[],
  known: HourFacts | undefined,
): RowOf<'website_hours'> {
  return {
    organization,
    website,
    hour,
    marks_read: marks,
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
    help: 'Hours of websites to be counted when last read; 100 stands for 100 or more.',
    registers,
  })
  return { open: (hours) => open.set(hours), counted: (hours) => counted.inc(hours) }
}
