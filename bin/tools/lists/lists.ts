/**
 * `whencectl logs`, `whencectl installs` and `whencectl activity`: as a table or as JSON lines, the newest last, with
 * `--follow`. Attempts at delivery are Logs too: `whencectl logs --direction outbound`.
 */

import { recordOf, partialOf } from '../../../domain/typed-keys.ts'
import { recordKey } from '../../../domain/records.ts'
import { ownersOf } from '../../../ports/facts/query-parts.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { withNamedEvents } from '../../../dashboard/logs/named-events.ts'
import type { DirectedFilters } from '../../../dashboard/logs/filters.ts'
import type { WalkWindow } from '../../../dashboard/reads/walk-back.ts'
import { SOURCE_COLUMN_NAMES, type VisitSource } from '../../../domain/collection/visit-source.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { LIMITS, MOST_LOG_RETENTION_DAYS } from '../../../domain/limits.ts'
import { websiteShown } from '../../../domain/logs/dashboard-place.ts'
import type { FoundRows } from '../../../domain/logs/first-records.ts'
import type { ActivityRow, AttemptRow, InstallRow, RequestLogRow, VisitRow } from '../../../ports/facts/query-rows.ts'
import type { CommandArguments } from '../../../runtime/settings/settings.ts'
import { openBackend, type ToolRun } from '../backend.ts'
import type { ToolStores } from '../live.ts'
import { limitOf } from '../flags.ts'
import { FAR_MS, installFlags, listPeriodOf, logFlags } from './list-filters.ts'
import { createTable, preciseTimeText, terminalChars, timeText, type TextColumn } from '../../terminal/table.ts'
import { complain, print, printJson } from '../../terminal/output.ts'
import { withValues } from '../../terminal/values.ts'
import { readNewestInstalls } from './newest-installs.ts'
import { readBack, type ReadBack } from './read-back.ts'

const FOLLOW_EVERY_MS = 500
/** Rows become visible a moment after their time; a follower looks back this far and shows each row once. */
const FOLLOW_OVERLAP_MS = 10_000
const REMEMBERED_ROWS = 10_000
const PROGRESS_EVERY_MS = 3_000

/** For the message that there is none. */
interface ListWords {
  /** What the list shows. */
  readonly what: string
  /** Where else it may be. */
  readonly elsewhere?: string
}

interface Listing<R> {
  readonly columns: readonly TextColumn<R>[]
  readonly idOf: (row: R) => string
  /** No row is kept for longer. */
  readonly keptDays: number
  readonly of: ReadBack<R>['of']
  readonly positionOf: ReadBack<R>['positionOf']
  readonly read: (backend: ToolStores, window: WalkWindow) => Promise<FoundRows<R>>
}

/** Of a window that was read as a whole. */
function whole<R>(rows: readonly R[]): FoundRows<R> {
  return { rows, reached: null }
}

export async function logsTool(run: ToolRun): Promise<number> {
  const filters = logFlags(run)
  if (filters === null) return 2
  const { requests, attempts } = filters
  const of = { ...textFlag(run, '--website', 'website'), ...textFlag(run, '--organization', 'organization') }
  if (requests === null) {
    let named: Promise<DirectedFilters> | null = null
    return list(
      run,
      { what: 'attempt at delivery' },
      {
        columns: ATTEMPT_COLUMNS,
        idOf: (row) => `${row.website}/${row.event_id}/${row.destination}/${row.attempt_id}`,
        keptDays: MOST_LOG_RETENTION_DAYS,
        of: attempts?.text === undefined ? 'lines' : 'texts',
        positionOf: (row) => ({ beforeMs: row.started_at_ms, beforeId: row.attempt_id }),
        read: async (backend, window) => {
          named ??= withNamedEvents(filters, (references) => backend.run('listEventsOfReferences', { references }))
          const { attempts: own } = await named
          return whole(own === null ? [] : await backend.run('listAttempts', { ...window, ...of, ...own }))
        },
      },
    )
  }
  const elsewhere = attempts === null ? {} : { elsewhere: 'Attempts at delivery are listed with --direction outbound.' }
  return list(
    run,
    { what: 'request', ...elsewhere },
    {
      columns: LOG_COLUMNS,
      idOf: (row) => row.id,
      keptDays: MOST_LOG_RETENTION_DAYS,
      of: requests.text === undefined ? 'lines' : 'texts',
      positionOf: (row) => ({ beforeMs: row.received_at_ms, beforeId: row.id }),
      read: async (backend, window) =>
        whole((await backend.run('listLogs', { ...window, ...of, ...requests })).map(ofShownWebsite)),
    },
  )
}

function ofShownWebsite(row: RequestLogRow): RequestLogRow {
  return { ...row, website: websiteShown(row.website) }
}

/** An install beside what the visit says that it was matched to; without one, or if that is gone, null. */
type InstallWithVisit = InstallRow & { readonly visit: VisitSource | null }

export async function installsTool(run: ToolRun): Promise<number> {
  const own = installFlags(run)
  if (own === null) return 2
  const of = { ...textFlag(run, '--website', 'website'), ...textFlag(run, '--organization', 'organization') }
  return list(
    run,
    { what: 'install' },
    {
      columns: [...INSTALL_COLUMNS, { head: 'CAME FROM', cell: cameFrom }],
      idOf: (row) => `${row.website}/${row.event_id}`,
      keptDays: LIMITS.retentionDays.max,
      of: 'others',
      positionOf: (row) => ({ beforeMs: row.received_at_ms, beforeId: row.event_id }),
      read: async (backend, window) => {
        const { rows, reached } = await readNewestInstalls(backend, { ...window, ...of, ...own })
        return { rows: await besideVisits(backend, rows), reached }
      },
    },
  )
}

export async function activityTool(run: ToolRun): Promise<number> {
  const filters = textFlag(run, '--organization', 'organization')
  return list(
    run,
    { what: 'activity' },
    {
      columns: ACTIVITY_COLUMNS,
      idOf: (row) => row.id,
      keptDays: Math.max(MOST_LOG_RETENTION_DAYS, LIMITS.auditRetentionDays),
      of: 'others',
      positionOf: (row) => ({ beforeMs: row.noticed_at_ms, beforeId: row.id }),
      read: async (backend, window) => whole(await backend.run('listActivity', { ...window, ...filters })),
    },
  )
}

const LOG_COLUMNS: readonly TextColumn<RequestLogRow>[] = [
  { head: 'TIME (UTC)', cell: (row) => preciseTimeText(row.received_at_ms) },
  { head: 'WEBSITE', cell: (row) => row.website || '-' },
  { head: 'REQUEST', cell: (row) => `${row.method} ${row.path}` },
  { head: 'ORIGIN', cell: (row) => row.origin || '-' },
  { head: 'STATUS', cell: (row) => String(row.status) },
  { head: 'CODE', cell: (row) => row.code || 'ok' },
  { head: 'MS', cell: (row) => row.duration_ms.toFixed(1) },
  { head: 'BODY', cell: (row) => (row.body_form === 'withheld' ? '(not kept)' : row.body) },
]

const ATTEMPT_COLUMNS: readonly TextColumn<AttemptRow>[] = [
  { head: 'TIME (UTC)', cell: (row) => preciseTimeText(row.started_at_ms) },
  { head: 'WEBSITE', cell: (row) => row.website },
  { head: 'EVENT ID', cell: (row) => row.event_id },
  { head: 'DESTINATION', cell: (row) => row.destination },
  { head: 'STATUS', cell: (row) => (row.response_status === 0 ? '-' : String(row.response_status)) },
  { head: 'CODE', cell: (row) => row.code || 'ok' },
  { head: 'MS', cell: (row) => row.duration_ms.toFixed(1) },
  { head: 'ANSWER', cell: (row) => row.response_body },
]

const INSTALL_COLUMNS: readonly TextColumn<InstallWithVisit>[] = [
  { head: 'TIME (UTC)', cell: (row) => timeText(row.received_at_ms) },
  { head: 'WEBSITE', cell: (row) => row.website },
  { head: 'EVENT ID', cell: (row) => row.event_id },
  { head: 'TYPE', cell: (row) => row.event_type },
  { head: 'RESOLUTION', cell: (row) => row.resolution },
  { head: 'POLICY', cell: (row) => row.selection_policy },
]

const ACTIVITY_COLUMNS: readonly TextColumn<ActivityRow>[] = [
  { head: 'TIME (UTC)', cell: (row) => timeText(row.noticed_at_ms) },
  { head: 'ORGANIZATION', cell: (row) => row.organization || '-' },
  { head: 'WEBSITE', cell: (row) => row.website || '-' },
  { head: 'WHAT', cell: (row) => row.type },
  { head: 'SUBJECT', cell: (row) => row.subject },
  { head: 'MESSAGE', cell: (row) => row.message },
]

function cameFrom({ visit, visit_id: visitId }: InstallWithVisit): string {
  if (visitId === '') return '-'
  if (visit === null) return `visit ${visitId}`
  const campaign = [visit.source, visit.medium, visit.campaign].filter((part) => part !== '').join(' / ')
  return [visit.page_url, campaign].filter((part) => part !== '').join(', ')
}

async function besideVisits(backend: ToolStores, installs: readonly InstallRow[]): Promise<InstallWithVisit[]> {
  const named = installs.filter(({ visit_id: visitId }) => visitId !== '')
  const keys = { ...ownersOf(named), visit_ids: named.map(({ visit_id: visitId }) => visitId) }
  const visits = named.length === 0 ? [] : await backend.run('visitsByIds', keys)
  const byKey = new Map(visits.map((visit) => [recordKey(visit, visit.visit_id), visit]))
  return installs.map((install) => {
    const visit = byKey.get(recordKey(install, install.visit_id))
    return { ...install, visit: visit === undefined ? null : whereFrom(visit) }
  })
}

function whereFrom(visit: VisitRow): VisitSource {
  return recordOf(SOURCE_COLUMN_NAMES, (name) => visit[name])
}

async function list<R extends object>(run: ToolRun, words: ListWords, listing: Listing<R>): Promise<number> {
  const isFollowing = run.flags.has('--follow')
  const limit = limitOf(run)
  const period = listPeriodOf(run, Date.now())
  if (limit === null || period === null) return 2
  if (isFollowing && run.flags.has('--until')) {
    complain('--follow shows rows as they come, so it has no --until\n')
    return 2
  }
  const backend = await openBackend(run.settings)
  try {
    // This process holds the folder it has opened itself: no new rows could come, and no service could start.
    if (isFollowing && !backend.isLive) throw new Error('--follow needs a running service, and none runs on this data')
    const show = printer(listing.columns, run.flags.has('--json'))
    const rows = await readRowsBack(backend, listing, { ...period, limit })
    show(rows)
    if (rows.length === 0) {
      const elsewhere = words.elsewhere === undefined ? '' : ` ${words.elsewhere}`
      complain(`There is no ${words.what} ${isFollowing ? 'yet' : 'to show'}.${elsewhere}\n`)
    }
    if (isFollowing) await follow(backend, listing, { show, shown: rows })
  } finally {
    await backend.close()
  }
  return 0
}

function readRowsBack<R extends object>(
  backend: ToolStores,
  listing: Listing<R>,
  { since_ms: sinceMs, until_ms: untilMs, limit }: WalkWindow,
): Promise<readonly R[]> {
  const nowMs = Date.now()
  const oldestMs = nowMs - (listing.keptDays + 1) * DAY_MS
  let saidAtMs = performance.now()
  const onSearched = (backToMs: number): void => {
    if (performance.now() - saidAtMs < PROGRESS_EVERY_MS) return
    saidAtMs = performance.now()
    complain(`Searched back to ${timeText(backToMs)} UTC ...\n`)
  }
  return readBack(
    { ...listing, read: (window) => listing.read(backend, window) },
    { sinceMs: Math.max(sinceMs, oldestMs), untilMs, limit, nowMs, onSearched },
  )
}

/** Runs until the process or the service is stopped. */
async function follow<R extends object>(
  backend: ToolStores,
  listing: Listing<R>,
  { show, shown }: { readonly show: Show<R>; readonly shown: readonly R[] },
): Promise<never> {
  const seen = new Set(shown.map(listing.idOf))
  for (;;) {
    await wait(FOLLOW_EVERY_MS)
    const nowMs = Date.now()
    const period = { since_ms: nowMs - FOLLOW_OVERLAP_MS, until_ms: nowMs + FAR_MS, limit: REMEMBERED_ROWS }
    const fresh = (await listing.read(backend, period)).rows.filter((row) => !seen.has(listing.idOf(row)))
    for (const row of fresh) seen.add(listing.idOf(row))
    show(fresh)
    for (const id of seen) if (seen.size > REMEMBERED_ROWS) seen.delete(id)
  }
}

type Show<R> = (rows: readonly R[]) => void

/** Prints rows that come newest first in reverse: a person sees the end of the output. */
function printer<R extends object>(columns: readonly TextColumn<R>[], isJson: boolean): Show<R> {
  const table = createTable(columns, terminalChars())
  return (rows) => {
    const ordered = [...rows].reverse()
    if (isJson) return printJson(ordered.map(withValues))
    print(
      table
        .lines(ordered)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }
}

function textFlag<N extends string>(run: CommandArguments, flag: string, name: N): { readonly [K in N]?: string } {
  const value = run.flags.get(flag)
  return partialOf([name], () => value)
}
