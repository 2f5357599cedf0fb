/** Deliveries: their states by destination and cause, what providers answer, and each of them as a list. */

import { DAY_MS } from '../../domain/durations.ts'
import type { Refusal } from '../../domain/errors.ts'
import { areFilters, readFilters, type FigureFilter } from '../../domain/figures/filters.ts'
import { periodOf, type AskedPeriod, type FiguresPeriod } from '../../domain/figures/periods.ts'
import { LIMITS } from '../../domain/limits.ts'
import { boundsBefore, type LogPosition } from '../../domain/logs/walk.ts'
import { timeZone, type TimeZone } from '../../domain/time-zones.ts'
import type { DeliveryListFilters, DeliveryLineRow } from '../../ports/facts/pages/deliveries.ts'
import { filterParameters, type FilterParameters } from '../../ports/facts/pages/figure-filters.ts'
import { answeredPeriod, readQuestion } from '../figures/asked-period.ts'
import { answer, type CallTo, type QueryValues } from '../http/call.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import { columnFilters } from '../reads/column-filters.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import type { AskedOfList } from './list.ts'

/** It reads deliveries themselves, not the figures by hour. */
const LONGEST_PERIOD_MS = 90 * DAY_MS
/** Causes beyond these are so rare that nobody looks at them before the others. */
const MOST_ERRORS = 50

interface DeliveryPeriod {
  readonly since_ms: number
  readonly until_ms: number
}

/** Of a longer period the last 90 days. */
export function deliveryPeriod({ query, nowMs }: AskedOfDeliveries, zone: TimeZone): DeliveryPeriod | Refusal {
  const period = periodOf(query, { nowMs, zone })
  return 'code' in period ? period : cutPeriod(period)
}

export interface AskedOfDeliveries extends AskedOfList {
  readonly query: AskedOfList['query'] & AskedPeriod
}

function cutPeriod({ sinceMs, untilMs }: FiguresPeriod): DeliveryPeriod {
  return { since_ms: Math.max(sinceMs, untilMs - LONGEST_PERIOD_MS), until_ms: untilMs }
}

export function readDeliveries(scope: ReadScope) {
  return scope(async (reads, call: CallTo<'deliveries'>) => {
    const question = await readQuestion(reads, call)
    if ('code' in question) return question
    const filters = readFilters(call.query.filter)
    if (!areFilters(filters)) return filters
    const asked = filterParameters(filters)
    const period = cutPeriod(question)
    const isCut = period.since_ms > question.sinceMs
    const before = isCut ? null : question.before
    const now = { now_ms: call.nowMs, ...asked }
    const destinations = reads.websites.flatMap(({ id: website, destinations: all }) =>
      all.map(({ id, displayName, provider, mode }) => ({ website, id, displayName, provider, mode })),
    )
    const groups = await reads.run('deliveryGroups', { ...period, ...now })
    const earlier =
      before === null
        ? null
        : await reads.run('deliveryGroups', { since_ms: before.sinceMs, until_ms: before.untilMs, ...now })
    return answer({
      ...answeredPeriod({ ...question, sinceMs: period.since_ms }),
      isCut,
      destinations,
      groups,
      before: earlier === null ? null : { groups: earlier },
      errors: await readErrors(reads, { ...period, ...asked }),
    })
  })
}

/** What failed attempts were answered, the commonest first, each with the words of the latest. */
async function readErrors(reads: OrganizationFacts, period: DeliveryPeriod & FilterParameters) {
  const errors = await reads.run('deliveryErrors', { ...period, limit: MOST_ERRORS })
  if (errors.length === 0) return []
  const words = await reads.run('attemptWords', {
    of_websites: errors.map(({ website }) => website),
    event_ids: errors.map(({ example }) => example),
    destinations: errors.map(({ destination }) => destination),
    attempt_ids: errors.map(({ example_attempt: id }) => id),
  })
  const byAttempt = new Map(words.map((row) => [row.attempt_id, row.words]))
  return errors.map(({ example_attempt: id, ...error }) => ({ ...error, words: byAttempt.get(id) ?? '' }))
}

const FILTER_COLUMNS = {
  destination: 'destination',
  status: 'status',
  reason: 'reason',
  code: 'code',
  answered: 'response_status',
} as const satisfies Readonly<Record<string, keyof DeliveryListFilters>>

export function deliveryFilters(values: QueryValues, filters: readonly FigureFilter[]): DeliveryListFilters {
  return { ...columnFilters<DeliveryListFilters>(values, FILTER_COLUMNS), ...filterParameters(filters) }
}

interface DeliveryQuestion {
  readonly filters: DeliveryListFilters
  readonly sinceMs: number
  readonly from: LogPosition
  readonly limit: number
}

export interface AnsweredDelivery {
  readonly delivery: DeliveryLineRow
  /** What its last attempt was answered; null if there was none. */
  readonly last: { readonly status: number; readonly code: string; readonly words: string } | null
}

interface DeliveryPage {
  readonly rows: readonly AnsweredDelivery[]
  readonly next: LogPosition | null
}

/** Those that changed last come first. */
export async function readDeliveryPage(
  reads: OrganizationFacts,
  { filters, sinceMs, from, limit }: DeliveryQuestion,
): Promise<DeliveryPage> {
  const rows = await reads.run('deliveryLines', { ...filters, ...boundsBefore(from), since_ms: sinceMs, limit })
  const last = rows.at(-1)
  return {
    rows: await withLastAttempts(reads, rows),
    next: rows.length < limit || last === undefined ? null : { beforeMs: last.changed_at_ms, beforeId: last.job_id },
  }
}

export function listDeliveries(scope: ReadScope, cursors: Cursors) {
  return scope(async (reads, call: CallTo<'deliveryList'>) => {
    const list = `deliveries\0${reads.organization.id}`
    const period = deliveryPeriod(call, timeZone(reads.organization.timeZone))
    if ('code' in period) return period
    const { since_ms: since, until_ms: until } = period
    const { cursor } = call.query
    const from = cursor === undefined ? { beforeMs: until, beforeId: '' } : cursors.read(list, cursor)
    if (from === null) return refuseCursor()
    const asked = readFilters(call.query.filter)
    if (!areFilters(asked)) return asked
    const filters = deliveryFilters(call.query, asked)
    const page = await readDeliveryPage(reads, { filters, sinceMs: since, from, limit: LIMITS.logsPerPage })
    return answer({
      since,
      until,
      deliveries: page.rows,
      next: page.next === null ? null : cursors.write(list, page.next),
    })
  })
}

/** Each with what its last attempt was answered; null if there was none. */
async function withLastAttempts(
  reads: OrganizationFacts,
  rows: readonly DeliveryLineRow[],
): Promise<readonly AnsweredDelivery[]> {
  const tried = rows.filter(({ attempts }) => attempts > 0)
  const found =
    tried.length === 0
      ? []
      : await reads.run('lastAttempts', {
          of_websites: tried.map(({ website }) => website),
          event_ids: tried.map((row) => row.event_id),
          destinations: tried.map(({ destination }) => destination),
        })
  const keyOf = ({
    website,
    event_id: event,
    destination,
  }: Pick<DeliveryLineRow, 'website' | 'event_id' | 'destination'>) => `${website}/${event}/${destination}`
  const byKey = new Map(found.map((row) => [keyOf(row), row]))
  return rows.map((delivery) => {
    const last = byKey.get(keyOf(delivery))
    if (last === undefined) return { delivery, last: null }
    const { last_status: status, last_code: code, words } = last
    return { delivery, last: { status, code, words } }
  })
}
