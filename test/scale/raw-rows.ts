/**
 * Counts what pages show once more, from every stored row and in other words than theirs: no FINAL, no ranges of IDs, no rollups. Rows are
 * read hour by hour, and repeats are recognised here by their keys.
 */

import { HOUR_MS } from '../../domain/durations.ts'
import { SCALE_WEBSITES } from '../../fixtures/scale/shape.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'

export type Counts = number[]
/** Counts by value, by dimension. */
export type Counted = Map<string, Map<string, Counts>>

export interface Span {
  readonly sinceMs: number
  readonly untilMs: number
}

interface RawView {
  readonly website: string
  readonly id: string
  readonly at: number
  readonly sitting: string
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly referrer: string
  readonly origin: string
  readonly page_url: string
}

export interface RawInstall {
  readonly website: string
  readonly event: string
  readonly at: number
  readonly type: string
  readonly path: string
  readonly platform: string
  readonly agent: string
  readonly installation: string
  /** 1: from CI or a container, or a test, which no figure counts. */
  readonly left_out: number
  readonly version: number
  resolution: string
  policy: string
  reason: string
  visit: string
  visit_at: number
}

const WEBSITES = `website IN (${SCALE_WEBSITES.map((id) => `'${id}'`).join(', ')})`
/** Rows of one dimension and hour that figures keep. */
const KEPT_VALUES = 500
/** All events of months at once would not fit into the memory of the engine. */
const PARTS = 32

export const within = (column: string, { sinceMs, untilMs }: Span): string =>
  `${WEBSITES} AND toUnixTimestamp64Milli(${column}) >= ${sinceMs} AND toUnixTimestamp64Milli(${column}) < ${untilMs}`

export async function rawRows<Row>(connection: FactsConnection, sql: string): Promise<readonly Row[]> {
  const settings = 'SETTINGS max_threads = 1, output_format_json_quote_64bit_integers = 0'
  return (await connection.query(`${sql} ${settings}`, {}, { turn: 'report' })) as readonly Row[]
}

/** Events by website and ID, as they were decided in the end. */
export async function rawInstalls(connection: FactsConnection, condition: string): Promise<readonly RawInstall[]> {
  const all: RawInstall[] = []
  for await (const some of installsInParts(connection, condition)) all.push(...some)
  return all
}

/** The same in parts: of one installation all rows are in the same part. */
async function* installsInParts(connection: FactsConnection, condition: string): AsyncGenerator<readonly RawInstall[]> {
  const decided = `resolution, selection_policy AS policy, reason, visit_id AS visit,
    if(visit_issued_at IS NULL, 0, toUnixTimestamp64Milli(assumeNotNull(visit_issued_at))) AS visit_at, row_version AS version`
  for (let part = 0; part < PARTS; part += 1) {
    const isInPart = `cityHash64(installation_id) % ${PARTS} = ${part}`
    const firsts = await rawRows<RawInstall>(
      connection,
      `SELECT website, event_id AS event, toUnixTimestamp64Milli(received_at) AS at, event_type AS type, install_path AS path, platform, agent,
        installation_id AS installation, toUInt8(is_ci OR is_container OR is_test) AS left_out, ${decided} FROM installs WHERE ${condition} AND ${isInPart}`,
    )
    const later = await rawRows<RawInstall>(
      connection,
      `SELECT website, event_id AS event, ${decided} FROM install_decisions WHERE ${WEBSITES} AND ${isInPart}`,
    )
    yield inTheEnd(firsts, greatest(later))
  }
}

function inTheEnd(firsts: readonly RawInstall[], decisions: ReadonlyMap<string, RawInstall>): readonly RawInstall[] {
  return [...greatest(firsts).values()].map((first) => {
    const decision = first.resolution === 'pending' ? decisions.get(keyOf(first)) : undefined
    if (decision === undefined) return first
    const { resolution, policy, reason, visit, visit_at } = decision
    return { ...first, resolution, policy, reason, visit, visit_at }
  })
}

const keyOf = ({ website, event }: RawInstall): string => `${website} ${event}`

function greatest(rows: readonly RawInstall[]): Map<string, RawInstall> {
  const found = new Map<string, RawInstall>()
  for (const row of rows) {
    const known = found.get(keyOf(row))
    if (known === undefined || row.version > known.version) found.set(keyOf(row), row)
  }
  return found
}

export const receivedIn = (span: Span): string => within('received_at', span)

/** The funnel of visits of the span, by dimension; a value of referrers counts in an hour only if it is among the 500 most frequent. */
export async function rawFunnel(connection: FactsConnection, span: Span): Promise<Counted> {
  const steps = new Map<string, Set<number>>()
  const all = `${WEBSITES} AND toUnixTimestamp64Milli(received_at) >= ${span.sinceMs}`
  const note = (key: string, step: number): void => void steps.set(key, (steps.get(key) ?? new Set()).add(step))
  for await (const events of installsInParts(connection, all)) {
    for (const event of events.filter(isCountedMatch)) {
      const key = `${event.website} ${event.visit}`
      if (event.type === 'install_started') note(key, 3)
      if (event.type === 'first_run') note(key, 5)
    }
    for (const install of installsAmong(events).filter(isCountedMatch)) {
      const key = `${install.website} ${install.visit}`
      note(key, 4)
      if (install.at - install.visit_at <= WEEK_MS) note(key, 6)
    }
  }
  const counted: Counted = new Map()
  for (let hour = span.sinceMs; hour < span.untilMs; hour += HOUR_MS) {
    const one = { sinceMs: hour, untilMs: Math.min(hour + HOUR_MS, span.untilMs) }
    const hours = await funnelOfHour(connection, one, steps)
    for (const cells of hours.values()) for (const [name, values] of cells) addUp(counted, name, most(values))
  }
  return counted
}

function isCountedMatch({ resolution, left_out: isLeftOut }: RawInstall): boolean {
  return resolution === 'matched' && isLeftOut === 0
}

/** The install of each installation: its first completion or first run, with the visit of a later event if it has none itself. */
function installsAmong(events: readonly RawInstall[]): readonly RawInstall[] {
  const byInstallation = Map.groupBy(events, ({ website, installation }) => `${website} ${installation}`)
  return [...byInstallation.values()].flatMap((own) => {
    const inOrder = own.toSorted((a, b) => a.at - b.at || (a.event < b.event ? -1 : 1))
    const install = inOrder.find(({ type }) => type !== 'install_started')
    if (install === undefined || install.visit !== '') return install ?? []
    const lender = inOrder.find(({ at, visit }) => at > install.at && at <= install.at + WEEK_MS && visit !== '')
    if (lender === undefined) return install
    const { resolution, policy, reason, visit, visit_at } = lender
    return { ...install, resolution, policy, reason, visit, visit_at }
  })
}

async function funnelOfHour(connection: FactsConnection, span: Span, steps: ReadonlyMap<string, ReadonlySet<number>>) {
  const ids = async (table: string, more = ''): Promise<ReadonlySet<string>> => {
    const rows = await rawRows<{ key: string }>(
      connection,
      `SELECT concat(website, ' ', visit_id) AS key FROM ${table} WHERE ${within('issued_at', { ...span, untilMs: span.untilMs + SITTING_MS })} ${more}`,
    )
    return new Set(rows.map(({ key }) => key))
  }
  const activated = await ids('activations', "AND effect = 'activated'")
  const copied = await ids('handoffs')
  const hours = new Map<string, Counted>()
  for (const views of await visitsBegunIn(connection, span)) {
    const [first] = views
    if (first === undefined) continue
    const counts: Counts = [1, 0, 0, 0, 0, 0, 0]
    for (const view of views) {
      const key = `${view.website} ${view.id}`
      if (activated.has(key)) counts[1] = 1
      if (copied.has(key)) counts[2] = 1
      for (const step of steps.get(key) ?? []) counts[step] = 1
    }
    const hour = hours.get(first.website) ?? new Map()
    hours.set(first.website, hour)
    for (const [name, value] of valuesOf(first)) count(hour, name, value, counts)
    for (const page of new Set(views.map(pageOf))) {
      count(hour, 'page', page, counts)
      count(hour, 'pages_seen', '', counts)
    }
  }
  return hours
}

/** How long before a span its sittings may have begun, and how long after it they may go on: none of these facts lasts longer. */
const SITTING_MS = HOUR_MS

/** The page views of each visit that began in the span, in order. */
async function visitsBegunIn(connection: FactsConnection, span: Span): Promise<readonly (readonly RawView[])[]> {
  const around = { sinceMs: span.sinceMs - SITTING_MS, untilMs: span.untilMs + SITTING_MS }
  const rows = await rawRows<RawView>(
    connection,
    `SELECT website, visit_id AS id, toUnixTimestamp64Milli(issued_at) AS at, sitting, source, medium, campaign,
      domain(source_referrer) AS referrer, origin, page_url FROM visits WHERE ${within('issued_at', around)} AND visitor_kind = ''`,
  )
  const views = new Map(rows.map((row) => [`${row.website} ${row.id}`, row]))
  const sittings = Map.groupBy([...views.values()], ({ website, sitting }) => `${website} ${sitting}`)
  const inOrder = [...sittings.values()].map((own) => own.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)))
  return inOrder.filter(([first]) => first !== undefined && first.at >= span.sinceMs && first.at < span.untilMs)
}

const pageOf = ({ origin, page_url: url }: RawView): string => origin + new URL(url).pathname

function valuesOf(visit: RawView): readonly (readonly [string, string])[] {
  return [
    ['visits', ''],
    ['source', visit.source],
    ['medium', visit.medium],
    ['source_medium', `${visit.source}\t${visit.medium}`],
    ['campaign', visit.campaign],
    ['referrer', visit.referrer],
  ]
}

function most(values: ReadonlyMap<string, Counts>): readonly (readonly [string, Counts])[] {
  return [...values]
    .sort(
      ([one, a], [other, b]) =>
        Number((b[4] ?? 0) > 0) - Number((a[4] ?? 0) > 0) || (b[0] ?? 0) - (a[0] ?? 0) || (one < other ? -1 : 1),
    )
    .slice(0, KEPT_VALUES)
}

/** Installs of the span, by dimension: counts of installs, and of those with a visit. */
export async function rawInstallCells(connection: FactsConnection, span: Span): Promise<Counted> {
  const counted: Counted = new Map()
  // Events before the span may be the install; those after it may lend theirs a visit.
  const around = { sinceMs: span.sinceMs - WEEK_MS, untilMs: span.untilMs + WEEK_MS }
  for await (const events of installsInParts(connection, receivedIn(around))) {
    const isInSpan = ({ at, left_out: isLeftOut }: RawInstall): boolean =>
      isLeftOut === 0 && at >= span.sinceMs && at < span.untilMs
    const installs = installsAmong(events).filter(isInSpan)
    const sources = await sourcesOf(connection, installs)
    for (const install of installs) {
      const isMatched = install.resolution === 'matched'
      const counts: Counts = [1, Number(isMatched)]
      const values: readonly (readonly [string, string])[] = [
        ['installs', ''],
        ['path', install.path],
        ['platform', install.platform],
        ['policy', install.policy],
        ['agent', install.agent],
        ...(isMatched ? [['source', sources.get(install.visit) ?? ''] as const] : []),
        ...(install.resolution === 'unmatched' ? [['reason', install.reason] as const] : []),
      ]
      for (const [name, value] of values) count(counted, name, value, counts)
    }
  }
  return counted
}

const WEEK_MS = 7 * 24 * HOUR_MS

async function sourcesOf(connection: FactsConnection, installs: readonly RawInstall[]) {
  const ids = [...new Set(installs.filter(({ visit }) => visit !== '').map(({ visit }) => `'${visit}'`))]
  if (ids.length === 0) return new Map<string, string>()
  const rows = await rawRows<{ id: string; source: string }>(
    connection,
    `SELECT visit_id AS id, any(visits.source) AS source FROM visits WHERE ${WEBSITES} AND visit_id IN (${ids.join(', ')}) GROUP BY id`,
  )
  return new Map(rows.map(({ id, source }) => [id, source]))
}

function count(counted: Counted, name: string, value: string, counts: Counts): void {
  const values = counted.get(name) ?? new Map<string, Counts>()
  counted.set(name, values)
  const sum = values.get(value) ?? counts.map(() => 0)
  values.set(value, sum)
  for (const [place, each] of counts.entries()) sum[place] = (sum[place] ?? 0) + each
}

function addUp(counted: Counted, name: string, cells: readonly (readonly [string, Counts])[]): void {
  for (const [value, counts] of cells) count(counted, name, value, counts)
}
