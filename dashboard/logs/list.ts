/** One page of Logs, and one line with its bodies. */

import { refuse } from '../../domain/errors.ts'
import { LIMITS } from '../../domain/limits.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { dashboardPlace, websiteShown } from '../../domain/logs/dashboard-place.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import { answer, type CallTo } from '../http/call.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { refuseCursor, type Cursors } from './cursor.ts'
import { directedFilters } from './filters.ts'
import { lineOf } from './line.ts'
import { withNamedEvents } from './named-events.ts'
import { readLogPage, type LogQuestion } from './pages.ts'

/** Clocks of other machines may be ahead. */
const AHEAD_MS = LIMITS.clockSkewMs

type AskedOfLogs = Pick<CallTo<'logs'>, 'query' | 'nowMs'>

/** What the query asks for; null if its cursor is not genuine. Rejects like `run`. */
export async function logQuestion(
  { query, nowMs }: AskedOfLogs,
  { organization, run }: Pick<OrganizationFacts, 'organization' | 'run'>,
  page: { readonly cursors: Cursors; readonly limit: number },
): Promise<LogQuestion | null> {
  const { since, until, cursor } = query
  const oldestMs = nowMs - organization.logRetentionDays * DAY_MS
  const sinceMs = Math.max(since ?? oldestMs, oldestMs)
  const newestMs = nowMs + AHEAD_MS
  const start = { beforeMs: Math.min(until ?? newestMs, newestMs), beforeId: '' }
  const from = cursor === undefined ? start : page.cursors.read(organization.id, cursor)
  if (from === null) return null
  const eventsOf = (references: readonly string[]) => run('eventsOfReferences', { references })
  const filters = await withNamedEvents(directedFilters(query), eventsOf)
  return { filters, sinceMs, from, limit: page.limit, hasBodies: false }
}

interface LogParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
  readonly clock: PageClock
}

export function listLogs({ scope, cursors, clock }: LogParts) {
  return scope(async (reads, call: CallTo<'logs'>) => {
    const question = await logQuestion(call, reads, { cursors, limit: LIMITS.logsPerPage })
    if (question === null) return refuseCursor()
    const { rows, next } = await readLogPage(reads, question, clock)
    return answer({
      records: rows.map(lineOf),
      // Complete from here on; older lines were not searched yet.
      searchedBackTo: next === null ? question.sinceMs : next.beforeMs,
      next: next === null ? null : writeNext(cursors, reads, next),
    })
  })
}

function writeNext(cursors: Cursors, { organization }: OrganizationFacts, next: LogPosition): string {
  return cursors.write(organization.id, next)
}

/** In place of a website in the address of a request of the dashboard, which is of none. */
const NO_WEBSITE = '~'
const REQUEST_ID = /^[0-9a-f]{28}$/
const TIME_CHARS = 12
export function readLoggedRequest(scope: ReadScope) {
  return scope(async (reads, call: CallTo<'loggedRequest'>) => {
    const { website, request: id } = call.params
    if (!REQUEST_ID.test(id)) return refuse('not_found')
    const atMs = parseInt(id.slice(0, TIME_CHARS), 16)
    if (atMs > call.nowMs + DAY_MS) return refuse('not_found')
    const place = website === NO_WEBSITE ? dashboardPlace(reads.organization.id) : website
    const [row] = await reads.run('requestLog', { website: place, id, at_ms: atMs })
    if (row === undefined) return refuse('not_found')
    return answer({ direction: 'inbound' as const, ...row, website: websiteShown(row.website) })
  })
}

export function readLoggedAttempt(scope: ReadScope) {
  return scope(async (reads, call: CallTo<'loggedAttempt'>) => {
    const { website, event, attempt } = call.params
    const [row] = await reads.run('attempt', { website, event_id: event, attempt_id: attempt })
    return row === undefined ? refuse('not_found') : answer({ direction: 'outbound' as const, ...row })
  })
}
