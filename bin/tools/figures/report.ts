/** `whencectl report`: figures of a period by source, page, agent and more; `whencectl rebuild-rollups` counts them anew. */

import { randomUUID } from 'node:crypto'

import { csvCell } from '../../../common/csv.ts'
import { figuresBy } from '../../../dashboard/figures/pages.ts'
import { readSteps, type FigureSource } from '../../../dashboard/figures/read-figures.ts'
import {
  installSlices,
  NO_INSTALLS,
  readInstallFigures,
  readInstallSteps,
  readLeftOut,
} from '../../../dashboard/figures/read-installs.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { namedCounts, VISIT_STEPS } from '../../../domain/figures/cells.ts'
import {
  INSTALL_COUNTS,
  INSTALLS_BY,
  ROW_LABELS,
  type InstallCounts,
  type RowKind,
} from '../../../domain/figures/installs.ts'
import { isTimeZone, stepsOf, timeZone, UTC_ZONE, type TimeZone } from '../../../domain/time-zones.ts'
import { recordOf } from '../../../domain/typed-keys.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { KEY_IDS } from '../../../domain/receipt.ts'
import { ownersOf } from '../../../ports/facts/query-parts.ts'
import type { CommandArguments } from '../../../runtime/settings/settings.ts'
import { complain, print, printCsv, printJson } from '../../terminal/output.ts'
import { createTable, terminalChars, type TextColumn } from '../../terminal/table.ts'
import { openBackend, type ToolRun } from '../backend.ts'
import { momentOf } from '../flags.ts'
import type { ToolStores } from '../live.ts'

const WAYS: readonly string[] = [...INSTALLS_BY, 'reason', 'day']
const DEFAULT_DAYS = 30
const MOST_NAMED = 20

export async function reportTool(run: ToolRun): Promise<number> {
  const by = run.flags.get('--by') ?? 'source'
  const period = reportPeriodOf(run, Date.now())
  if (period === null) return 2
  const problem = problemOf(run, by)
  if (problem !== null) {
    complain(`${problem}\n`)
    return 2
  }
  const backend = await openBackend(run.settings)
  try {
    const known = await backend.run('websitesWithFigures', {})
    const source = sourceOf(backend, ownedBy(known, run), run)
    const rows = source === null ? null : await reportOf(source, period, by)
    if (rows !== null) printReport(run, by, rows)
    if (source !== null) await noteLeftOut(run, source, period)
    if (rows === null || rows.lines.length === 0) complain(`There are no figures${ofWebsite(run)} to show.\n`)
    if (rows === null && known.length > 0)
      complain(`Websites that have figures: ${namesShown(known.map(({ website }) => website))}.\n`)
  } finally {
    await backend.close()
  }
  return 0
}

export async function rebuildRollupsTool(run: ToolRun): Promise<number> {
  const nowMs = Date.now()
  const since = momentOf(run, '--since', nowMs)
  if (since === null) return 2
  const backend = await openBackend(run.settings)
  try {
    const request = { writer: randomUUID(), sinceMs: since ?? 0, untilMs: nowMs, nowMs }
    const hours = await backend.markHours(request)
    print(`Marked ${hours} hours of websites; the role rollup counts them again, newest first.\n`)
  } finally {
    await backend.close()
  }
  return 0
}

function ofWebsite({ flags }: CommandArguments): string {
  const website = flags.get('--website')
  return website === undefined ? '' : ` of ${website}`
}

interface ReportPeriod {
  readonly sinceMs: number
  readonly untilMs: number
  readonly zone: TimeZone
}

/** Whole hours; null after a message on standard error. */
function reportPeriodOf(run: CommandArguments, nowMs: number): ReportPeriod | null {
  const until = momentOf(run, '--until', nowMs)
  const since = momentOf(run, '--since', nowMs)
  if (until === null || since === null) return null
  const name = run.flags.get('--time-zone') ?? UTC_ZONE
  if (!isTimeZone(name)) {
    complain('--time-zone must be a name of the IANA database, such as Europe/Berlin\n')
    return null
  }
  const zone = timeZone(name)
  const untilMs = zone.hourAfter(until === undefined ? nowMs : until - 1)
  const sinceMs = zone.hourOf(since ?? untilMs - DEFAULT_DAYS * DAY_MS)
  if (sinceMs < untilMs) return { sinceMs, untilMs, zone }
  complain('--since must be before --until\n')
  return null
}

function problemOf({ flags }: CommandArguments, by: string): string | null {
  if (!WAYS.includes(by)) return `--by must be one of ${WAYS.join(', ')}`
  return flags.has('--csv') && flags.has('--json') ? 'give either --csv or --json' : null
}

/** The first of them, so that a long list stays readable. */
function namesShown(websites: readonly string[]): string {
  const shown = websites.toSorted().slice(0, MOST_NAMED).join(', ')
  return websites.length > MOST_NAMED ? `${shown} and ${websites.length - MOST_NAMED} more` : shown
}

/** Those that the flags name. */
export function ownedBy<Owned extends OwnedWebsite>(
  known: readonly Owned[],
  { flags }: CommandArguments,
): readonly Owned[] {
  const website = flags.get('--website')
  const organization = flags.get('--organization')
  return known.filter(
    (each) =>
      (website === undefined || each.website === website) &&
      (organization === undefined || each.organization === organization),
  )
}

/** What the figures do not say: beside them, so that a script reads nothing but figures. */
async function noteLeftOut({ flags }: CommandArguments, source: FigureSource, period: ReportPeriod): Promise<void> {
  if (flags.has('--json') || flags.has('--csv')) return
  const leftOut = await readLeftOut(source, await installSlices(source, period))
  if (leftOut === 0) return
  const installs = `${leftOut} ${leftOut === 1 ? 'install' : 'installs'} from CI, containers and tests`
  complain(
    source.leftOut === undefined
      ? `Not counted: ${installs}. --include-left-out counts them.\n`
      : `Among them: ${installs}. Visits are counted without these.\n`,
  )
}

function sourceOf(
  backend: ToolStores,
  asked: readonly OwnedWebsite[],
  { flags }: CommandArguments,
): FigureSource | null {
  if (asked.length === 0) return null
  return {
    // A tool has no master secret, so it reads visits of every key.
    keyIds: KEY_IDS,
    nowMs: Date.now(),
    ...(flags.has('--include-left-out') ? { leftOut: 'include' as const } : {}),
    reads: {
      websites: asked.map(({ website: id }) => ({ id })),
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the parameters of the query, with those of the scope
      run: (query, params) => backend.run(query, { ...params, ...ownersOf(asked) } as never),
    },
  }
}

/** A line of the report: what it stands for, and its counts by the names of the columns. */
interface ReportLine {
  readonly row: RowKind | 'total'
  readonly value: string
  /** Null: not counted by this dimension. */
  readonly counts: Readonly<Record<string, number | null>>
}

interface FigureReport {
  readonly names: readonly string[]
  readonly lines: readonly ReportLine[]
}

const VISIT_NAMES = ['visits', 'copied'] as const
const DAY_NAMES = [...VISIT_NAMES, ...INSTALL_COUNTS]

async function reportOf(source: FigureSource, period: ReportPeriod, by: string): Promise<FigureReport> {
  if (by === 'day') return reportByDay(source, period)
  const dimension = INSTALLS_BY.find((each) => each === by)
  if (dimension !== undefined) return reportBy(await figuresBy(source, period, dimension))
  const { total, by: rowsBy } = await readInstallFigures(source, period, ['reason'])
  const reasons = rowsBy('reason').filter(({ counts }) => counts.unmatched > 0)
  return withTotal(
    ['unmatched'],
    reasons.map(({ value, counts }) => ({ row: 'value', value, counts: { unmatched: counts.unmatched } })),
    { unmatched: total.unmatched },
  )
}

/** Exported for its tests, which need no facts. */
export function reportBy({ total, rows }: Awaited<ReturnType<typeof figuresBy>>): FigureReport {
  const lines = rows.map(({ row, value, visits, ...installs }) => ({
    row,
    value,
    counts: lineCounts(installs, visits),
  }))
  const { visits: ofVisits, ...ofInstalls } = total
  return withTotal(DAY_NAMES, lines, lineCounts(ofInstalls, ofVisits))
}

async function reportByDay(source: FigureSource, { sinceMs, untilMs, zone }: ReportPeriod): Promise<FigureReport> {
  const days = stepsOf(zone, { at: sinceMs, until: untilMs }, 'day')
  const visits = await readSteps(source, 'visits', days)
  const installs = await readInstallSteps(source, await installSlices(source, { sinceMs, untilMs }), days)
  const shown = new Intl.DateTimeFormat('sv', { timeZone: zone.name, dateStyle: 'short' })
  const lines = days.map(({ at }, place): ReportLine => {
    const counts = lineCounts(installs[place] ?? NO_INSTALLS, namedCounts(VISIT_STEPS, visits[place] ?? []))
    return { row: 'value', value: shown.format(at), counts }
  })
  const counted = lines.filter(({ counts }) => Object.values(counts).some((count) => count !== 0))
  const sums = recordOf(DAY_NAMES, (name) => counted.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0))
  return withTotal(DAY_NAMES, counted, sums)
}

function lineCounts(installs: InstallCounts, visits: { readonly visits: number; readonly copied: number } | null) {
  return { visits: visits?.visits ?? null, copied: visits?.copied ?? null, ...installs }
}

function withTotal(names: readonly string[], lines: readonly ReportLine[], counts: ReportLine['counts']): FigureReport {
  return { names, lines: lines.length === 0 ? [] : [...lines, { row: 'total', value: '', counts }] }
}

function printReport(run: CommandArguments, by: string, { names, lines }: FigureReport): void {
  if (run.flags.has('--json')) {
    printJson(lines.map(({ row, value, counts }) => ({ [by]: value, row, ...counts })))
    return
  }
  if (run.flags.has('--csv')) {
    // A terminal would be shown carriage returns.
    const cells = lines.map(({ row, value, counts }) => [value, row, ...names.map((name) => counts[name] ?? '')])
    printCsv([[by, 'row', ...names], ...cells].map((row) => `${row.map(csvCell).join(',')}\n`).join(''))
    return
  }
  const columns: readonly TextColumn<ReportLine>[] = [
    ...names.map((name) => ({
      head: name.replace('_', ' ').toUpperCase(),
      cell: ({ counts }: ReportLine) => String(counts[name] ?? '–'),
    })),
    { head: by.replace('_', ' ').toUpperCase(), cell: lineLabel },
  ]
  print(
    createTable(columns, terminalChars())
      .lines(lines)
      .map((line) => `${line}\n`)
      .join(''),
  )
}

/** In parentheses, so that no value is taken for one of these. */
function lineLabel({ row, value }: ReportLine): string {
  if (row === 'value') return value
  return row === 'total' ? '(total)' : `(${ROW_LABELS[row].toLowerCase()})`
}
