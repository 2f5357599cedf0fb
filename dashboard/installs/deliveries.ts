/** Deliveries: their states by destination and cause, what providers answer, and each of them as a list. */

import { DAY_MS } from '../../domain/durations.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { boundsBefore } from '../../domain/logs/walk.ts'
import type { DeliveryListFilters, DeliveryLineRow } from '../../ports/facts/pages/deliveries.ts'
import { answer, type Call } from '../http/call.ts'
import { textParameter } from '../http/parameters.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import { columnFilters } from '../reads/column-filters.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'

const DEFAULT_PERIOD_MS = 7 * DAY_MS
const LONGEST_PERIOD_MS = 90 * DAY_MS
/** Causes beyond these are so rare that nobody looks at them before the others. */
const MOST_ERRORS = 50

interface DeliveryPeriod {
  readonly since_ms: number
  readonly until_ms: number
}

/** Both ends are Unix ms; the later one is exclusive and not after now. */
function deliveryPeriod({ queryValues: { since, until }, nowMs }: Call): DeliveryPeriod {
  const end = typeof until === 'number' ? Math.min(until, nowMs + 1) : nowMs + 1
  const wanted = typeof since === 'number' ? since : end - DEFAULT_PERIOD_MS
  return { since_ms: Math.min(end, Math.max(wanted, end - LONGEST_PERIOD_MS)), until_ms: end }
}

export function readDeliveries(scope: ReadScope) {
  return scope(async (reads, call) => {
    const period = deliveryPeriod(call)
    const before = { since_ms: 2 * period.since_ms - period.until_ms, until_ms: period.since_ms }
    const now = { now_ms: call.nowMs }
    const destinations = reads.websites.flatMap(({ id: website, destinations: all }) =>
      all.map(({ id, displayName, provider, mode }) => ({ website, id, displayName, provider, mode })),
    )
    const groups = await reads.run('deliveryGroups', { ...period, ...now })
    const earlier = await reads.run('deliveryGroups', { ...before, ...now })
    return answer({
      ...{ since: period.since_ms, until: period.until_ms, destinations, groups },
      before: { groups: earlier },
      errors: await readErrors(reads, period),
    })
  })
}

/** What failed attempts were answered, the commonest first, each with the words of the latest. */
async function readErrors(reads: OrganizationFacts, period: DeliveryPeriod) {
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

/** Of the list of deliveries, beside the period. */
export const DELIVERY_FILTER_SCHEMA = {
  destination: textParameter('One destination.', LIMITS.groupChars),
  status: {
    ...{ type: 'string', description: 'How it stands.' },
    enum: ['pending', 'retrying', 'delivered', 'skipped', 'expired', 'failed'],
  },
  reason: textParameter('Why it stands so.', LIMITS.clientHintChars),
  code: textParameter('An attempt of the period was answered with this code.', LIMITS.clientHintChars),
  answered: {
    ...{ type: 'integer', description: 'And with this status; 0: there was no answer.' },
    ...{ minimum: 0, maximum: 999 },
  },
} as const satisfies Readonly<Record<string, JsonSchema>>

const FILTER_COLUMNS = {
  ...{ destination: 'destination', status: 'status', reason: 'reason', code: 'code' },
  answered: 'response_status',
} as const satisfies Readonly<Record<string, keyof DeliveryListFilters>>

export function listDeliveries(scope: ReadScope, cursors: Cursors) {
  return scope(async (reads, call) => {
    const list = `deliveries\0${reads.organization.id}`
    const { since_ms: since, until_ms: until } = deliveryPeriod(call)
    const { cursor } = call.queryValues
    const from = typeof cursor === 'string' ? cursors.read(list, cursor) : { beforeMs: until, beforeId: '' }
    if (from === null) return refuseCursor()
    const filters = columnFilters<DeliveryListFilters>(call.queryValues, FILTER_COLUMNS)
    const limit = LIMITS.logsPerPage
    const rows = await reads.run('deliveryLines', { ...filters, ...boundsBefore(from), since_ms: since, limit })
    const last = rows.at(-1)
    const next = rows.length < limit || last === undefined ? null : last
    return answer({
      ...{ since, until, deliveries: await withLastAttempts(reads, rows) },
      next: next === null ? null : cursors.write(list, { beforeMs: next.changed_at_ms, beforeId: next.job_id }),
    })
  })
}

/** Each with what its last attempt was answered; null if there was none. */
async function withLastAttempts(reads: OrganizationFacts, rows: readonly DeliveryLineRow[]) {
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
