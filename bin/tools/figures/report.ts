/** `whencectl report`: figures of a period by source, page, agent and more; `whencectl rebuild-rollups` counts them anew. */

import { randomUUID } from 'node:crypto'

import { csvCell } from '../../../common/csv.ts'
import { named, totalOf } from '../../../dashboard/figures/answers.ts'
import { readFigures, readSteps, type FigureSource } from '../../../dashboard/figures/read-figures.ts'
import { DAY_MS, endOfHours, hourAfter, hourOf } from '../../../domain/durations.ts'
import {
  cellOf,
  INSTALL_COUNTS,
  restOf,
  VISIT_STEPS,
  type Cell,
  type Counts,
  type Dimension,
} from '../../../domain/figures/cells.ts'
import type { OwnedWebsite } from '../../../domain/model.ts'
import { KEY_IDS } from '../../../domain/receipt.ts'
import { ownersOf } from '../../../ports/facts/query-parts.ts'
import type { CommandArguments } from '../../../runtime/settings/settings.ts'
import { complain, print, printCsv, printJson } from '../../terminal/output.ts'
import { createTable, terminalChars, type TextColumn } from '../../terminal/table.ts'
import { openBackend, type ToolRun } from '../backend.ts'
import { momentOf } from '../flags.ts'
import type { ToolStores } from '../live.ts'

const VISITS_BY = ['source', 'campaign', 'page'] as const
const INSTALLS_BY = ['path', 'agent', 'reason'] as const
const WAYS: readonly string[] = [...VISITS_BY, ...INSTALLS_BY, 'day']
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
    const source = sourceOf(backend, ownedBy(known, run))
    const rows = source === null ? null : await cellsOf(source, period, by)
    if (rows !== null) printReport(run, by, rows)
    if (rows === null || rows.cells.length === 0) complain(`There are no figures${ofWebsite(run)} to show.\n`)
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
}

/** Whole hours; null after a message on standard error. */
function reportPeriodOf(run: CommandArguments, nowMs: number): ReportPeriod | null {
  const until = momentOf(run, '--until', nowMs)
  const since = momentOf(run, '--since', nowMs)
  if (until === null || since === null) return null
  const untilMs = until === undefined ? hourAfter(nowMs) : endOfHours(until)
  const sinceMs = hourOf(since ?? untilMs - DEFAULT_DAYS * DAY_MS)
  if (sinceMs < untilMs) return { sinceMs, untilMs }
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
export function ownedBy(known: readonly OwnedWebsite[], { flags }: CommandArguments): readonly OwnedWebsite[] {
  const website = flags.get('--website')
  const organization = flags.get('--organization')
  return known.filter(
    (each) =>
      (website === undefined || each.website === website) &&
      (organization === undefined || each.organization === organization),
  )
}

function sourceOf(backend: ToolStores, asked: readonly OwnedWebsite[]): FigureSource | null {
  if (asked.length === 0) return null
  return {
    // A tool has no master secret, so it reads visits of every key.
    keyIds: KEY_IDS,
    nowMs: Date.now(),
    reads: {
      websites: asked.map(({ website: id }) => ({ id })),
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the parameters of the query, with those of the scope
      run: (query, params) => backend.run(query, { ...params, ...ownersOf(asked) } as never),
    },
  }
}

interface ReportRows {
  readonly names: readonly string[]
  readonly cells: readonly Cell[]
  /** What the cells leave out of the total: values beyond those that are kept of an hour. Null if they leave out nothing. */
  readonly other: Counts | null
}

async function cellsOf(source: FigureSource, period: ReportPeriod, by: string): Promise<ReportRows> {
  if (by === 'day') {
    const steps = await readSteps(source, period, { dimension: 'visits', stepMs: DAY_MS })
    const cells = steps.map(({ at, counts }): Cell => [new Date(at).toISOString().slice(0, 10), ...counts])
    return { names: VISIT_STEPS, cells, other: null }
  }
  const dimension = [...VISITS_BY, ...INSTALLS_BY].find((each) => each === by)
  if (dimension === undefined) throw new Error(`figures are not counted by ${by}`)
  return figureRows(dimension, await readFigures(source, period, [dimension, wholeOf(dimension)]))
}

/** The dimension with the total of all values of this one. */
function wholeOf(by: Dimension): 'visits' | 'installs' {
  return VISITS_BY.some((each) => each === by) ? 'visits' : 'installs'
}

/** Rows by one dimension, from figures of it and of the whole. Reasons are few, and only unmatched installs have one. */
export function figureRows(by: Dimension, figures: ReadonlyMap<Dimension, readonly Cell[]>): ReportRows {
  const whole = wholeOf(by)
  const names = whole === 'visits' ? VISIT_STEPS : INSTALL_COUNTS
  const cells = figures.get(by) ?? []
  const rest = restOf(totalOf(figures.get(whole)), cells)
  const hasOther = by !== 'reason' && rest.some((count) => count > 0)
  return { names, cells, other: hasOther ? rest : null }
}

/** The value of the line that sums up all others. In JSON it is null, because a visit's source could be this text. */
const OTHER = '(other)'

function printReport(run: CommandArguments, by: string, { names, cells: kept, other }: ReportRows): void {
  if (run.flags.has('--json')) {
    const rows = kept.map(([value, ...counts]) => ({ [by]: value, ...named(names, counts) }))
    printJson(other === null ? rows : [...rows, { [by]: null, ...named(names, other) }])
    return
  }
  const cells: readonly Cell[] = other === null ? kept : [...kept, cellOf({ value: OTHER, counts: other })]
  if (run.flags.has('--csv')) {
    // A terminal would be shown carriage returns.
    printCsv([[by, ...names], ...cells].map((row) => `${row.map(csvCell).join(',')}\n`).join(''))
    return
  }
  const columns: readonly TextColumn<Cell>[] = [
    ...names.map((name, at) => ({
      head: name.replace('_', ' ').toUpperCase(),
      cell: (row: Cell) => String(row[at + 1]),
    })),
    { head: by.toUpperCase(), cell: ([value]) => (value === '' ? '-' : value) },
  ]
  print(
    createTable(columns, terminalChars())
      .lines(cells)
      .map((line) => `${line}\n`)
      .join(''),
  )
}
