/** Handlers of downloads: Logs, visits, installs and deliveries, streamed; nothing is stored of them. */

import type { Refusal } from '../../domain/errors.ts'
import { areFilters, readFilters } from '../../domain/figures/filters.ts'
import type { HitCounter } from '../../ports/hot-state/hot-state.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { EXPORT_ROUTES } from '../api/exports.ts'
import type { NoteActivity } from '../events/activity.ts'
import type { StillAllowed } from '../events/event-streams.ts'
import { type OrganizationCall, type CallTo, type HandlersOf, type StreamAnswer } from '../http/call.ts'
import { logExportHit, refuseByRate } from '../http/limits.ts'
import { refuseCursor, type Cursors } from '../logs/cursor.ts'
import type { AskedOfList } from '../installs/list.ts'
import { logQuestion } from '../logs/list.ts'
import type { PageClock } from '../reads/walk-back.ts'
import type { OrganizationFacts, ReadScope } from '../reads/scope.ts'
import { deliveryTable } from './deliveries.ts'
import { installTable } from './installs.ts'
import { exportLogs, type LogExportFormat } from './logs.ts'
import { readVisitFilters } from '../visits/list.ts'
import { exportTable, type AskedOfTable, type ListedTable } from './table.ts'
import { visitTable } from './visits.ts'

interface ExportParts {
  readonly scope: ReadScope
  readonly cursors: Cursors
  readonly clock: PageClock
  readonly control: ExportControl
}

/** What bounds downloads, and notes each. */
export interface ExportControl {
  readonly hotState: HitCounter
  readonly stillAllowed: StillAllowed
  readonly noteActivity: NoteActivity
  readonly logger: Logger
}

export function exportHandlers(given: ExportParts): HandlersOf<typeof EXPORT_ROUTES> {
  // A page that ends early would have the next one begin with a short window again, and in a long, sparse period with hundreds of them.
  const parts = { ...given, clock: { ...given.clock, patienceMs: Number.POSITIVE_INFINITY } }
  return {
    logExport: downloadLogs(parts),
    installExport: downloadTable(parts, installTable),
    visitExport: downloadTable(parts, visitTable, readVisitFilters),
    deliveryExport: downloadTable(parts, deliveryTable),
  }
}

function downloadLogs(parts: ExportParts) {
  const { scope, cursors, clock, control } = parts
  return scope(async (reads, call: CallTo<'logExport'>) => {
    const question = await logQuestion(call, reads, { cursors, limit: 0 })
    if (question === null) return refuseCursor()
    // Whoever asks for the head alone downloads nothing.
    const limited = call.isHead ? null : await refuseByRate([logExportHit(reads.organization.id)], control.hotState)
    if (limited !== null) return limited
    const format: LogExportFormat = call.query.format ?? 'ndjson'
    const counted = { rows: 0 }
    const chunks = exportLogs(
      {
        reads,
        mayGoOn: () => control.stillAllowed(call, 'Member'),
        onRows: (rows) => void (counted.rows += rows),
      },
      { question, format, cursors, clock },
    )
    const name = format === 'ndjson' ? 'logs.ndjson' : 'logs.log'
    const contentType = format === 'ndjson' ? 'application/x-ndjson' : 'text/plain; charset=utf-8'
    return download(control, call, {
      name,
      contentType,
      chunks: noted(control, call, { what: 'Logs', counted }, chunks),
    })
  })
}

/** Reads the list that the request asks for. */
type TableOf<Row> = (reads: OrganizationFacts, asked: AskedOfTable, clock: PageClock) => ListedTable<Row> | Refusal

type DownloadCall = OrganizationCall &
  AskedOfList & { readonly query: { readonly excel?: boolean; readonly filter?: readonly string[] } }

type ReadFilters = typeof readFilters

function downloadTable<Row>(parts: ExportParts, tableOf: TableOf<Row>, read: ReadFilters = readFilters) {
  const { control } = parts
  return parts.scope(async (reads, call: DownloadCall) => {
    const filters = read(call.query.filter)
    if (!areFilters(filters)) return filters
    const counted = { rows: 0 }
    const table = tableOf(reads, { query: call.query, nowMs: call.nowMs, filters }, parts.clock)
    if ('code' in table) return table
    const chunks = exportTable(table, {
      reads,
      hasMark: call.query.excel === true,
      mayGoOn: () => control.stillAllowed(call, 'Member'),
      onRows: (rows) => void (counted.rows += rows),
    })
    const contentType = 'text/csv; charset=utf-8'
    return download(control, call, {
      name: `${table.what}.csv`,
      contentType,
      chunks: noted(control, call, { what: table.what, counted }, chunks),
    })
  })
}

interface DownloadedFile<Type extends string> {
  readonly name: string
  readonly contentType: Type
  readonly chunks: StreamAnswer['chunks']
}

function download<Type extends string>(
  { stillAllowed }: ExportControl,
  call: OrganizationCall,
  file: DownloadedFile<Type>,
): StreamAnswer<Type> {
  const { name, contentType, chunks } = file
  const headers = { 'Content-Disposition': `attachment; filename="${name}"` }
  return { kind: 'stream', contentType, headers, chunks, mayGoOn: () => stillAllowed(call, 'Member') }
}

interface Downloaded {
  /** The list. */
  readonly what: string
  readonly counted: { readonly rows: number }
}

/** Records what was sent, even if the download was cut off: at most the rows of one page more than the client received. */
async function* noted(
  { noteActivity, logger }: ExportControl,
  call: OrganizationCall,
  { what, counted }: Downloaded,
  chunks: AsyncIterable<string>,
): AsyncGenerator<string> {
  try {
    yield* chunks
  } finally {
    const { organization } = call.scope
    const names = Object.keys(call.query)
    const filters = names.length === 0 ? 'without filters' : `with ${names.join(', ')}`
    await noteActivity({
      organization: organization.id,
      website: '',
      type: 'export',
      subject: call.session.person,
      actor: call.session.person,
      message: `${counted.rows} records were downloaded: ${what} ${filters}.`,
      logRetentionDays: organization.logRetentionDays,
    }).catch((error: unknown) => logger.error({ err: error, request: call.requestId }, 'an export was not noted'))
  }
}
