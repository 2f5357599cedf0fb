/** Figures for programs. They are read as those of the pages are, so that the numbers are the same. */

import type { Refusal } from '../../domain/errors.ts'
import { namedCounts, VISIT_STEPS } from '../../domain/figures/cells.ts'
import { ROW_LABELS, type FigureRow, type InstallCounts, type InstallDimension } from '../../domain/figures/installs.ts'
import {
  askedMetrics,
  askedPeriod,
  askedSteps,
  bucketText,
  notKeptOf,
  type KeyMetric,
  type NotKept,
} from '../../domain/figures/key-figures.ts'
import { visitsBeside } from '../../domain/figures/overview.ts'
import { areFilters, readFilters } from '../../domain/figures/filters.ts'
import { periodOf } from '../../domain/figures/periods.ts'
import { timeZone, type TimeStep } from '../../domain/time-zones.ts'
import { recordOf } from '../../domain/typed-keys.ts'
import { spanOf } from '../figures/asked-period.ts'
import { figuresBy, type FigureParts, type ZonedSource } from '../figures/pages.ts'
import { addCounts, installSlices, NO_INSTALLS, readInstallSteps } from '../figures/read-installs.ts'
import { readVisitSteps } from '../figures/filtered-visits.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { OrganizationFacts } from '../reads/scope.ts'
import { csvAnswer } from './csv.ts'

type KeyVisits = Readonly<Record<(typeof VISIT_STEPS)[number], number>>

/** What is counted of one time and value. Visits are null if they are not counted so. */
interface KeyCounts {
  readonly installs: InstallCounts
  readonly visits: KeyVisits | null
}

interface KeyRowCounts extends KeyCounts {
  readonly step: TimeStep
  /** Null if nothing is counted by. */
  readonly of: FigureRow | null
}

interface CountedRows {
  readonly rows: readonly KeyRowCounts[]
  readonly totals: readonly KeyCounts[]
}

export function keyFigures({ scope, keyIds }: FigureParts) {
  return scope(async (reads, call: CallTo<'keyFigures'>) => {
    const asked = readAsked(call, reads)
    if ('code' in asked) return asked
    const { period, metrics, steps, filters, zone } = asked
    const { by, bucket } = call.query
    const source = { reads, nowMs: call.nowMs, keyIds, zone, filters }
    const { rows: counted, totals } =
      by === undefined ? await countSteps(source, steps) : await countBy(source, steps, by)
    const notKept = notKeptOf(reads.asked.kept ?? [], spanOf(period), zone)
    const rows = counted.map((row) => ({
      ...shownValue(row.of),
      bucket: bucket === undefined ? null : bucketText(bucket, row.step, zone),
      ...(isKept(row.step, notKept) ? measured(metrics, row) : recordOf(metrics, () => null)),
    }))
    if (call.wantsCsv) {
      const named = [...(by === undefined ? [] : ['value', 'row']), ...(bucket === undefined ? [] : ['bucket'])]
      return csvAnswer([...named, ...metrics], rows)
    }
    return answer({
      timeZone: zone.name,
      rows,
      total: measured(metrics, sumOfCounts(totals)),
      notKept: notKept === null ? null : { before: notKept.before },
    })
  })
}

/** Refused if a parameter is none, or asks for too much. */
function readAsked({ query, nowMs }: CallTo<'keyFigures'>, { organization }: OrganizationFacts) {
  const zone = timeZone(organization.timeZone)
  const metrics = askedMetrics(query.metrics)
  if ('code' in metrics) return metrics
  const filters = readFilters(query.filter)
  if (!areFilters(filters)) return filters
  const asked = askedPeriod(query, zone)
  if ('code' in asked) return asked
  const period = periodOf(asked, { nowMs, zone })
  if ('code' in period) return { ...period, extra: { ...period.extra, field: '/from' } } satisfies Refusal
  const { by, bucket } = query
  const steps = askedSteps({ bucket, isByValue: by !== undefined }, spanOf(period), zone)
  return 'code' in steps ? steps : { zone, metrics, filters, period, steps }
}

/** As the overview counts over time. */
async function countSteps(source: ZonedSource, steps: readonly TimeStep[]): Promise<CountedRows> {
  const period = { sinceMs: steps[0]?.at ?? 0, untilMs: steps.at(-1)?.until ?? 0 }
  const installs = await readInstallSteps(source, await installSlices(source, period), steps)
  const visits = await readVisitSteps(source, steps, visitsBeside(source.filters ?? []))
  const rows = steps.map((step, place) => ({
    step,
    of: null,
    installs: installs[place] ?? NO_INSTALLS,
    visits: visits === null ? null : namedCounts(VISIT_STEPS, visits[place] ?? []),
  }))
  return { rows, totals: rows }
}

/** As the page Sources counts, for each of these times. */
async function countBy(source: ZonedSource, steps: readonly TimeStep[], by: InstallDimension): Promise<CountedRows> {
  const rows: KeyRowCounts[] = []
  const totals: KeyCounts[] = []
  for (const step of steps) {
    const found = await figuresBy(source, { sinceMs: step.at, untilMs: step.until }, by)
    rows.push(
      ...found.rows.map(({ row, value, visits, ...installs }) => ({ step, of: { row, value }, installs, visits })),
    )
    totals.push({ installs: found.total, visits: found.total.visits })
  }
  return { rows, totals }
}

function sumOfCounts(totals: readonly KeyCounts[]): KeyCounts {
  return totals.reduce((sum, each) => ({
    installs: addCounts(sum.installs, each.installs),
    visits: sum.visits === null || each.visits === null ? null : addKeyVisits(sum.visits, each.visits),
  }))
}

function addKeyVisits(one: KeyVisits, other: KeyVisits): KeyVisits {
  return recordOf(VISIT_STEPS, (name) => one[name] + other[name])
}

function measured(metrics: readonly KeyMetric[], { installs, visits }: KeyCounts) {
  const all: Readonly<Record<KeyMetric, number | null>> = {
    installs: installs.installs,
    visits: visits?.visits ?? null,
    copied: visits?.copied ?? null,
    matched: installs.matched,
  }
  return recordOf(metrics, (name) => all[name])
}

function shownValue(of: FigureRow | null) {
  if (of === null) return { value: null, row: null }
  return { value: of.row === 'value' ? of.value : ROW_LABELS[of.row], row: of.row }
}

function isKept({ until }: TimeStep, notKept: NotKept | null): boolean {
  return notKept === null || until > notKept.untilMs
}
