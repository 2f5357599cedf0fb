/**
 * Role `rollup`: keeps one row of figures for each website and hour. An hour is marked after its facts are written. The
 * version of a row says which marks existed before its facts were read, so that later facts are noticed. Every step can
 * be repeated, and a kill between any two loses nothing.
 */

import { Counter, Gauge, type Registry } from 'prom-client'

import { HOUR_MS, hourOf } from '../../domain/durations.ts'
import { hourCells, hourRetention } from '../../domain/figures/hour-row.ts'
import type { RowOf } from '../../ports/facts/columns.ts'
import type { Facts } from '../../ports/facts/facts.ts'
import type { QueryRow } from '../../ports/facts/queries.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat } from '../repeat.ts'
import { stoppableFacts } from '../stopping.ts'

interface RollupDeps {
  readonly facts: Pick<Facts, 'run' | 'insert'>
  readonly logger: Pick<Logger, 'warn'>
  readonly nowMs: () => number
  readonly registry?: Registry
}

/** An hour with many late records is counted again at most this often. */
const EVERY_MS = 30_000
const HOURS_AT_ONCE = 100
/** Each insert makes a part, which is synced, and merged with others later. */
const HOURS_PER_INSERT = 10

/** Starts at once. `stop` resolves when the current hour is counted, or given up. */
export function startRollup(deps: RollupDeps): { readonly stop: () => Promise<void> } {
  const metrics = createRollupMetrics(deps.registry)
  return repeat({
    act: (stopping) =>
      rollUp({ ...deps, facts: stoppableFacts(deps.facts, stopping) }, { metrics, signal: stopping.signal }),
    everyMs: EVERY_MS,
    onFailure: (reason) => deps.logger.warn({ reason }, 'figures could not be updated; retrying'),
  })
}

interface RollUpOptions {
  readonly metrics?: RollupMetrics | null
  readonly signal?: AbortSignal
}

/** Counts every marked hour that has ended. Rejects like `Facts`; hours counted until then are stored. */
export async function rollUp({ facts, nowMs }: RollupDeps, options: RollUpOptions = {}): Promise<void> {
  const { metrics, signal } = options
  // Hours that have not ended are read from the facts.
  const until = hourOf(nowMs())
  let found = HOURS_AT_ONCE
  while (found === HOURS_AT_ONCE) {
    const dirty = await facts.run('dirtyHours', { until_ms: until, limit: HOURS_AT_ONCE })
    metrics?.open(dirty.length)
    for (let first = 0; first < dirty.length; first += HOURS_PER_INSERT) {
      if (signal?.aborted ?? false) return
      await countHours(facts, dirty.slice(first, first + HOURS_PER_INSERT), options)
    }
    found = dirty.length
  }
}

/** One insert stores them all. If one cannot be counted, those before it are stored. */
async function countHours(
  facts: RollupDeps['facts'],
  hours: readonly QueryRow<'dirtyHours'>[],
  { metrics, signal }: RollUpOptions,
): Promise<void> {
  const rows: RowOf<'website_hours'>[] = []
  try {
    for (const hour of hours) {
      if (signal?.aborted ?? false) break
      rows.push(await countHour(facts, hour))
    }
  } finally {
    if (rows.length > 0) {
      await facts.insert('website_hours', rows)
      metrics?.counted(rows.length)
    }
  }
}

/** Reads the facts only after the marks were read. */
async function countHour(facts: RollupDeps['facts'], dirty: QueryRow<'dirtyHours'>): Promise<RowOf<'website_hours'>> {
  const { website, hour_ms: hour, marks } = dirty
  const period = { websites: [website], since_ms: hour, until_ms: hour + HOUR_MS }
  const [known] = await facts.run('hourFacts', period)
  const { days, key_ids } = known ?? { days: 0, key_ids: [] }
  const funnel = key_ids.length === 0 ? [] : await facts.run('hourFunnel', { ...period, key_ids })
  const installs = await facts.run('hourInstalls', period)
  const deliveries = installs.length === 0 ? [] : await facts.run('hourDeliveries', period)
  return {
    ...{ website, hour, marks_read: marks },
    ...hourCells([...funnel, ...installs, ...deliveries]),
    retention_days: hourRetention(days, dirty.retention_days),
    row_version: dirty.row_version + 1,
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
