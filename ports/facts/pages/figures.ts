/** The queries of figures: raw for the last hours, rolled up for all others, and those of the role `rollup`. */

import { pageOf, report, sequential, type OwnerKeys } from '../query-parts.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { websitesAsked, type AskedWebsites, type RawPeriod } from './ranges.ts'
import {
  deliveryCells,
  FORMER_USAGE,
  funnelCells,
  factsWithin,
  HOUR_FACTS,
  hourFunnel,
  trackedCells,
  trackedSteps,
  valueSteps,
  madeUpInstalls,
  visitSteps,
  type ValuePeriod,
  type CellRow,
  type FormerPeriod,
  type FormerUsageRow,
  type HourCellRow,
  type HourKeys,
} from './raw-figures.ts'
import {
  COUNTED_FACTS,
  DIRTY_HOURS,
  firstUncountedHour,
  HOURS_WITH_FACTS,
  rolledCells,
  rolledSteps,
  type DirtyHourRow,
  type RolledCellRow,
  type StepRow,
  type RolledPeriod,
  type RolledSteps,
} from './rolled-figures.ts'
import { changedVisitHours, type VisitHourRow } from './sittings.ts'

/** An hour without visits or installs has none. */
interface HourFactsRow extends OwnedWebsite {
  readonly hour_ms: number
  readonly facts: number
  readonly days: number
  readonly key_ids: readonly number[]
  readonly sittings: number
}

interface MadeUpRow {
  readonly events: number
  readonly matched: number
  readonly delivered: number
}

export const FIGURE_QUERIES = {
  funnelCells: pageOf<RawPeriod, CellRow>((period) => funnelCells(period)),
  trackedCells: pageOf<RawPeriod, CellRow>((period) => trackedCells(period)),
  /** The funnel of each quarter of an hour. */
  visitSteps: pageOf<RawPeriod, StepRow>(visitSteps),
  /** The same of visits of some values. */
  valueSteps: pageOf<ValuePeriod, StepRow>(valueSteps),
  /** Page views or install events of each quarter of an hour. */
  trackedSteps: pageOf<RawPeriod & { readonly column: 'page_views' | 'events' }, StepRow>(trackedSteps),
  /** Only asked about an organisation that was filled with made-up traffic. */
  madeUpInstalls: pageOf<RawPeriod, MadeUpRow>(madeUpInstalls),
  deliveryCells: pageOf<RawPeriod, CellRow>((period) => deliveryCells(period)),
  /** What the quota of an organisation counts beside the figures of the websites that it has. */
  formerUsage: pageOf<FormerPeriod, FormerUsageRow>(FORMER_USAGE),
  /** The first hour that has figures, if there is one. */
  firstHour: pageOf<AskedWebsites, { readonly hour_ms: number }>(
    (period) => `SELECT toUnixTimestamp64Milli(min(hour)) AS hour_ms FROM website_hours WHERE ${websitesAsked(period)}
    HAVING count() > 0 LIMIT 1`,
  ),
  firstUncountedHour: pageOf<
    AskedWebsites & { readonly since_ms: number; readonly until_ms: number },
    { readonly hour_ms: number }
  >(firstUncountedHour),
  /** The greatest counts first. */
  rolledCells: pageOf<RolledPeriod, RolledCellRow>(rolledCells),
  /** By hour: totals of the dimensions `visits`, `page_views` and `events`, or some values of another. */
  rolledSteps: pageOf<RolledSteps, StepRow>(rolledSteps),
} as const

/** For the role `rollup`. */
export const ROLLUP_QUERIES = {
  dirtyHours: report<{ readonly until_ms: number; readonly limit: number }, DirtyHourRow>(DIRTY_HOURS),
  websitesWithFigures: report<Record<never, never>, OwnedWebsite>(
    `SELECT DISTINCT organization, website FROM (SELECT organization, website FROM website_hours
      UNION ALL SELECT organization, website FROM hour_marks) ORDER BY organization, website LIMIT 200000`,
  ),
  hourFacts: report<HourKeys, HourFactsRow>(HOUR_FACTS),
  countedFacts: report<RawPeriod & OwnerKeys, { readonly hour_ms: number; readonly facts: number }>(COUNTED_FACTS),
  factsWithin: report<RawPeriod, { readonly facts: number }>(factsWithin),
  /** What visits that began in earlier hours did in these, as far as it is not stored yet. */
  changedVisitHours: sequential<RawPeriod, VisitHourRow>(changedVisitHours),
  hourFunnel: sequential<RawPeriod, HourCellRow>(hourFunnel),
  hourTracked: report<RawPeriod, HourCellRow>((period) => trackedCells(period, 'hour')),
  hourDeliveries: report<RawPeriod, HourCellRow>((period) => deliveryCells(period, 'hour')),
  hoursWithFacts: report<
    { readonly since_ms: number; readonly until_ms: number; readonly limit: number },
    OwnedWebsite & { readonly hour_ms: number }
  >(HOURS_WITH_FACTS),
} as const
