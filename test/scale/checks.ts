/** Compares what pages show with a count over all stored rows (`raw-rows.ts`). */

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { VISIT_STEPS } from '../../domain/figures/cells.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'
import type { AskedPages } from './pages.ts'
import {
  rawFunnel,
  rawInstallCells,
  rawInstalls,
  rawRows,
  receivedIn,
  within,
  type Counted,
  type Counts,
  type Span,
} from './raw-rows.ts'

/** A number that a page shows, and the same of all rows. */
interface Comparison {
  readonly what: string
  readonly shown: number
  readonly counted: number
}

export interface CheckReport {
  readonly compared: number
  readonly wrong: readonly Comparison[]
}

type Row = Readonly<Record<string, any>>
type Compare = (what: string, shown: number, counted: number) => void

const WEEK_MS = 7 * DAY_MS
const BY = ['source', 'medium', 'campaign', 'referrer', 'page'] as const
/** Of which the two hours that are read raw keep 500 for both hours together. */
const BORDERED: readonly string[] = ['source', 'referrer', 'page']
const OF_INSTALLS = ['path', 'platform', 'policy', 'agent'] as const

/** Each pair of values takes a request at least. */
const PAIRS = 20

interface Checked {
  readonly pages: AskedPages
  readonly connection: FactsConnection
  /** When the oldest fact was made, Unix ms. */
  readonly sinceMs: number
  readonly say: (text: string) => void
}

export async function checkNumbers(checked: Checked): Promise<CheckReport> {
  let compared = 0
  const wrong: Comparison[] = []
  const compare: Compare = (what, shown, counted) => {
    compared += 1
    if (shown !== counted) wrong.push({ what, shown, counted })
  }
  const endMs = checked.pages.stage.nowMs() + 1
  const rolledMs = Math.floor(endMs / HOUR_MS) * HOUR_MS - 2 * HOUR_MS
  const weekBefore = (untilMs: number): Span => ({ sinceMs: Math.max(checked.sinceMs, untilMs - WEEK_MS), untilMs })
  const latest = weekBefore(Math.ceil(endMs / HOUR_MS) * HOUR_MS)
  const middleMs = Math.floor((checked.sinceMs + rolledMs) / 2 / HOUR_MS) * HOUR_MS
  const rolled = weekBefore(middleMs - checked.sinceMs > WEEK_MS ? middleMs : rolledMs)
  await checkFunnel(
    checked,
    compare,
    latest,
    BY.filter((by) => !BORDERED.includes(by)),
  )
  await checkFunnel(checked, compare, rolled, BY)
  for (const span of [latest, rolled]) await checkMatch(checked, compare, span)
  await checkLists(checked, compare, endMs)
  for (const untilMs of [endMs, rolled.untilMs])
    await checkVisits(checked, compare, { sinceMs: untilMs - HOUR_MS, untilMs })
  await checkDeliveries(checked, compare, endMs)
  return { compared, wrong }
}

const spanText = ({ sinceMs, untilMs }: Span): string => `since=${sinceMs}&until=${untilMs - 1}`

async function checkFunnel(
  { pages, connection, say }: Checked,
  compare: Compare,
  span: Span,
  dimensions: readonly (typeof BY)[number][],
): Promise<void> {
  const counted = await rawFunnel(connection, span)
  say(`counted ${counted.get('visits')?.get('')?.[0]?.toLocaleString('en')} visits by their rows`)
  const total = counted.get('visits')?.get('') ?? []
  const funnel = (await pages.get(`funnel?${spanText(span)}`)).body
  compareCounts(compare, 'funnel', VISIT_STEPS, funnel['total'], total)
  for (const [place, step] of VISIT_STEPS.entries()) {
    const sum = (funnel['steps'] as Row[]).reduce((all, each) => all + each[step], 0)
    compare(`funnel by time, ${step}`, sum, total[place] ?? 0)
  }
  for (const by of dimensions) {
    const page = (await pages.get(`sources?by=${by}&${spanText(span)}`)).body
    compareVisits(compare, by, page, counted)
  }
}
/** The visits of the values that are shown. */
function compareVisits(compare: Compare, by: string, page: Row, counted: Counted): void {
  const values = counted.get(by) ?? new Map<string, Counts>()
  const shown = (page['rows'] as Row[]).filter(({ row }) => VISIT_ROWS.includes(row))
  const nothing = VISIT_STEPS.map(() => 0)
  for (const { row, value, visits } of shown) {
    compareCounts(compare, `${by} ${row} ${value}`, VISIT_STEPS, visits, values.get(value) ?? nothing)
  }
  const sum = (page['rows'] as Row[]).reduce((all, { visits }) => all + visits.visits, 0)
  compare(`visits by ${by}`, sum, counted.get(by === 'page' ? 'pages_seen' : 'visits')?.get('')?.[0] ?? 0)
}

/** Rows of a value, and of visits without one. */
const VISIT_ROWS: readonly string[] = ['value', 'direct', 'no_campaign', 'none']

/** Installs by what is shown, and their sum. */
function compareInstalls(compare: Compare, by: string, rows: readonly Row[], counted: Counted): void {
  const values = counted.get(by) ?? new Map<string, Counts>()
  for (const { row, value, installs, matched } of rows.filter((each) => VISIT_ROWS.includes(each['row']))) {
    const [all = 0, withVisit = 0] = values.get(value) ?? []
    compare(`installs by ${by}, ${row} ${value}`, installs, all)
    compare(`matched by ${by}, ${row} ${value}`, matched, withVisit)
  }
  const sum = rows.reduce((all, { installs }) => all + installs, 0)
  compare(`sum of installs by ${by}`, sum, counted.get('installs')?.get('')?.[0] ?? 0)
}

function compareCounts(compare: Compare, what: string, names: readonly string[], shown: Row, counted: Counts): void {
  for (const [place, name] of names.entries()) compare(`${what}, ${name}`, shown[name], counted[place] ?? 0)
}

async function checkMatch({ pages, connection }: Checked, compare: Compare, span: Span): Promise<void> {
  const counted = await rawInstallCells(connection, span)
  const match = (await pages.get(`match?${spanText(span)}`)).body
  for (const by of OF_INSTALLS) compareInstalls(compare, by, match[by] as Row[], counted)
  const sources = (await pages.get(`sources?by=source&${spanText(span)}`)).body
  compareInstalls(compare, 'source', sources['rows'] as Row[], counted)
  for (const { value, installs } of match['reason'] as Row[]) {
    compare(`reason ${value}`, installs, counted.get('reason')?.get(value)?.[0] ?? 0)
  }
}

/** The list of visits, page by page, for each step, and the counts of visits with two values at once. */
async function checkVisits({ pages, connection }: Checked, compare: Compare, span: Span): Promise<void> {
  const funnel = await rawFunnel(connection, span)
  const counted = funnel.get('visits')?.get('') ?? []
  const largestFirst = [...(funnel.get('source_medium') ?? [])].sort(([, a], [, b]) => (b[0] ?? 0) - (a[0] ?? 0))
  for (const [value, counts] of largestFirst.slice(0, PAIRS)) {
    const [source = '', medium = ''] = value.split('\t').map(encodeURIComponent)
    const asked = `visits/counts?since=${span.sinceMs}&until=${span.untilMs}&filter=source:is:${source}&filter=medium:is:${medium}`
    compareCounts(compare, `visits of ${value}`, VISIT_STEPS, await everyCount(pages, asked), counts)
  }
  for (const [place, step] of VISIT_STEPS.entries()) {
    const only = step === 'visits' ? '' : `&step=${step}`
    const listed = await everyRow(pages, `visits?since=${span.sinceMs}&until=${span.untilMs}${only}`, 'visits')
    compare(`visits listed, ${step}`, listed.length, counted[place] ?? 0)
  }
}

/** The lists of installs and of Logs, page by page, and the shared commands. */
async function checkLists({ pages, connection }: Checked, compare: Compare, endMs: number): Promise<void> {
  const hour = { sinceMs: endMs - HOUR_MS, untilMs: endMs }
  const installs = await rawInstalls(connection, receivedIn(hour))
  const listed = await everyRow(pages, `installs?since=${hour.sinceMs}`, 'installs')
  compare('installs listed', listed.length, installs.length)
  const ids = new Set(installs.map(({ event }) => event))
  compare('of them the same', listed.filter(({ install }) => ids.has(install.event_id)).length, installs.length)
  const refused = await rawRows<{ id: string }>(
    connection,
    `SELECT DISTINCT id FROM request_logs WHERE ${within('received_at', hour)} AND status >= 400 AND status < 500`,
  )
  const lines = await everyRow(pages, `logs?direction=inbound&status=4xx&since=${hour.sinceMs}`, 'records')
  compare('lines of Logs', lines.length, refused.length)
  const month = { sinceMs: endMs - 7 * DAY_MS, untilMs: endMs }
  const byToken = (await rawInstalls(connection, receivedIn(month))).filter(({ policy }) => policy === 'handoff')
  const commands = (await pages.get(`shared-commands?since=${month.sinceMs}`)).body
  // Its period begins with the whole hour.
  const since = commands['since'] as number
  for (const command of commands['commands'] as Row[]) {
    const own = byToken.filter(({ visit, at }) => visit === command['visit_id'] && at >= since)
    const machines = new Set(own.map(({ installation }) => installation))
    if (since >= month.sinceMs) compare(`machines of ${command['visit_id']}`, command['installations'], machines.size)
  }
}

/** The sums of all requests that a count takes. */
async function everyCount({ get }: AskedPages, path: string): Promise<Row> {
  const sums: Record<string, number> = {}
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await get(cursor === '' ? path : `${path}&cursor=${cursor}`)
    for (const [step, count] of Object.entries(body['counts'] as Row)) sums[step] = (sums[step] ?? 0) + count
    cursor = body['next'] as string | null
  }
  return sums
}

async function everyRow({ get }: AskedPages, path: string, name: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await get(cursor === '' ? path : `${path}&cursor=${cursor}`)
    rows.push(...(body[name] as Row[]))
    cursor = body['next'] as string | null
  }
  return rows
}

interface RawDelivery {
  readonly key: string
  readonly destination: string
  readonly status: string
  readonly reason: string
  readonly at: number
  readonly version: number
}

async function checkDeliveries({ pages, connection }: Checked, compare: Compare, endMs: number): Promise<void> {
  const span = { sinceMs: endMs - DAY_MS, untilMs: endMs }
  const rows = await rawRows<RawDelivery>(
    connection,
    `SELECT concat(website, ' ', event_id, ' ', destination) AS key, destination, status, reason, toUnixTimestamp64Milli(changed_at) AS at,
      row_version AS version FROM deliveries WHERE ${within('changed_at', { ...span, sinceMs: span.sinceMs - DAY_MS })}`,
  )
  const latest = new Map<string, RawDelivery>()
  for (const row of rows) if (row.version > (latest.get(row.key)?.version ?? -1)) latest.set(row.key, row)
  const inSpan = [...latest.values()].filter(({ at }) => at >= span.sinceMs)
  const { groups } = (await pages.get(`deliveries?since=${span.sinceMs}`)).body as Row
  for (const group of groups as Row[]) {
    const { destination, status, reason } = group
    const own = inSpan.filter(
      (row) => row.destination === destination && row.status === status && row.reason === reason,
    )
    compare(`deliveries to ${destination}, ${status} ${reason}`, group['deliveries'], own.length)
  }
}
