/**
 * Counts what pages show once more, from every stored row and in other words than theirs: no FINAL, no ranges of IDs, no rollups. Rows are
 * read hour by hour, and repeats are recognised here by their keys.
 */

import { HOUR_MS } from '../../domain/durations.ts'
import { SCALE_WEBSITES } from '../../fixtures/scale/shape.ts'
import type { FactsConnection } from '../../ports/facts/engine/connection.ts'

export type Counts = number[]
/** Six counts by value, by dimension. */
export type Counted = Map<string, Map<string, Counts>>

export interface Span {
  readonly sinceMs: number
  readonly untilMs: number
}

interface RawVisit {
  readonly website: string
  readonly id: string
  readonly utm_source: string
  readonly utm_medium: string
  readonly utm_campaign: string
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
  readonly version: number
  resolution: string
  policy: string
  reason: string
  visit: string
  visit_at: number
}

const WEBSITES = `website IN (${SCALE_WEBSITES.map((id) => `'${id}'`).join(', ')})`
const EVENT_STEPS: Readonly<Record<string, number>> = { install_started: 3, install_completed: 4, first_run: 5 }
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

/** The same in parts: of one event all rows are in the same part. */
async function* installsInParts(connection: FactsConnection, condition: string): AsyncGenerator<readonly RawInstall[]> {
  const decided = `resolution, selection_policy AS policy, reason, visit_id AS visit,
    if(visit_issued_at IS NULL, 0, toUnixTimestamp64Milli(assumeNotNull(visit_issued_at))) AS visit_at, row_version AS version`
  for (let part = 0; part < PARTS; part += 1) {
    const isInPart = `cityHash64(event_id) % ${PARTS} = ${part}`
    const firsts = await rawRows<RawInstall>(
      connection,
      `SELECT website, event_id AS event, toUnixTimestamp64Milli(received_at) AS at, event_type AS type, install_path AS path, platform, agent,
        installation_id AS installation, ${decided} FROM installs WHERE ${condition} AND ${isInPart}`,
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
  const agents = new Map<string, Set<string>>()
  const all = `${WEBSITES} AND toUnixTimestamp64Milli(received_at) >= ${span.sinceMs}`
  for await (const installs of installsInParts(connection, all)) {
    for (const { resolution, website, visit, type, agent } of installs) {
      if (resolution !== 'matched') continue
      const key = `${website} ${visit}`
      steps.set(key, (steps.get(key) ?? new Set()).add(EVENT_STEPS[type] ?? 0))
      if (agent !== '') agents.set(key, (agents.get(key) ?? new Set()).add(agent))
    }
  }
  const counted: Counted = new Map()
  for (let hour = span.sinceMs; hour < span.untilMs; hour += HOUR_MS) {
    const one = { sinceMs: hour, untilMs: Math.min(hour + HOUR_MS, span.untilMs) }
    const hours = await funnelOfHour(connection, one, { steps, agents })
    for (const cells of hours.values()) for (const [name, values] of cells) addUp(counted, name, most(values))
  }
  return counted
}

interface Installed {
  readonly steps: ReadonlyMap<string, ReadonlySet<number>>
  readonly agents: ReadonlyMap<string, ReadonlySet<string>>
}

async function funnelOfHour(connection: FactsConnection, span: Span, { steps, agents }: Installed) {
  const ids = async (table: string, more = ''): Promise<ReadonlySet<string>> => {
    const rows = await rawRows<{ key: string }>(
      connection,
      `SELECT concat(website, ' ', visit_id) AS key FROM ${table} WHERE ${within('issued_at', span)} ${more}`,
    )
    return new Set(rows.map(({ key }) => key))
  }
  const activated = await ids('activations', "AND effect = 'activated'")
  const copied = await ids('handoffs')
  const visits = await rawRows<RawVisit>(
    connection,
    `SELECT website, visit_id AS id, utm_source, utm_medium, utm_campaign, domain(source_referrer) AS referrer, origin, page_url
    FROM visits WHERE ${within('issued_at', span)}`,
  )
  const hours = new Map<string, Counted>()
  const seen = new Set<string>()
  for (const visit of visits) {
    const key = `${visit.website} ${visit.id}`
    if (seen.has(key)) continue
    seen.add(key)
    const counts: Counts = [1, Number(activated.has(key)), Number(copied.has(key)), 0, 0, 0]
    for (const step of steps.get(key) ?? []) counts[step] = 1
    const hour = hours.get(visit.website) ?? new Map()
    hours.set(visit.website, hour)
    for (const [name, value] of valuesOf(visit, agents.get(key))) count(hour, name, value, counts)
  }
  return hours
}

function valuesOf(visit: RawVisit, agents: ReadonlySet<string> = new Set()): readonly (readonly [string, string])[] {
  const page = visit.origin + new URL(visit.page_url).pathname
  return [
    ['visits', ''],
    ['source', visit.utm_source],
    ['medium', visit.utm_medium],
    ['source_medium', `${visit.utm_source}\t${visit.utm_medium}`],
    ['campaign', visit.utm_campaign],
    ['referrer', visit.referrer],
    ['page', page],
    ...[...agents].map((agent) => ['agent_page', `${agent}\t${page}`] as const),
  ]
}

function most(values: ReadonlyMap<string, Counts>): readonly (readonly [string, Counts])[] {
  return [...values]
    .sort(([one, a], [other, b]) => (b[0] ?? 0) - (a[0] ?? 0) || (one < other ? -1 : 1))
    .slice(0, KEPT_VALUES)
}

/** Install events of the span, by dimension. */
export async function rawInstallCells(connection: FactsConnection, span: Span): Promise<Counted> {
  const counted: Counted = new Map()
  for (const install of await rawInstalls(connection, receivedIn(span))) {
    const place = (EVENT_STEPS[install.type] ?? 3) - 3
    const counts: Counts = [0, 0, 0, 0, 0, 0]
    counts[place] = 1
    const outcome = ['matched', 'unmatched', 'counted'].indexOf(install.resolution)
    if (outcome !== -1) counts[3 + outcome] = 1
    const values: readonly (readonly [string, string])[] = [
      ['installs', ''],
      ['path', install.path],
      ['platform', install.platform],
      ['policy', install.policy],
      ['agent', install.agent],
      ...(install.resolution === 'unmatched' ? [['reason', install.reason] as const] : []),
    ]
    for (const [name, value] of values) count(counted, name, value, counts)
  }
  return counted
}

function count(counted: Counted, name: string, value: string, counts: Counts): void {
  const values = counted.get(name) ?? new Map<string, Counts>()
  counted.set(name, values)
  const sum = values.get(value) ?? [0, 0, 0, 0, 0, 0]
  values.set(value, sum)
  for (const [place, each] of counts.entries()) sum[place] = (sum[place] ?? 0) + each
}

function addUp(counted: Counted, name: string, cells: readonly (readonly [string, Counts])[]): void {
  for (const [value, counts] of cells) count(counted, name, value, counts)
}
