/** Logs as a download, newest first: whole records as lines of JSON, or one short line of text for each. */

import { IN_BACKGROUND, sliced } from '../../common/sliced.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { LogLineRow } from '../../ports/facts/pages/logs.ts'
import type { Cursors } from '../logs/cursor.ts'
import { lineOf } from '../logs/line.ts'
import type { PageClock } from '../reads/walk-back.ts'
import { readLogPage, type LogQuestion } from '../logs/pages.ts'
import { checkMayGoOn, type Download } from './download.ts'
import type { OrganizationFacts } from '../reads/scope.ts'

/** Keyset pages: none takes long, and look-ups of requests run in between. */
const PAGE_ROWS = 2_000

export type LogExportFormat = 'ndjson' | 'text'

/** How a download ended: in its last line, so that a cut-off download is noticed. */
interface LogTrailer {
  readonly records: number
  /** The limit that ended it; null if it is complete. */
  readonly truncated: 'records' | 'bytes' | null
  /** Cursor to continue the export with. */
  readonly continueBefore: string | null
}

interface ExportedLines {
  readonly records: number
  readonly truncated: 'records' | 'bytes' | null
  readonly last: LogLineRow | null
}

interface LogExport {
  readonly question: LogQuestion
  readonly format: LogExportFormat
  readonly cursors: Cursors
  readonly clock: PageClock
}

export async function* exportLogs(download: Download, wanted: LogExport): AsyncGenerator<string> {
  const { reads } = download
  const { format, clock } = wanted
  let question: LogQuestion | null = { ...wanted.question, limit: PAGE_ROWS, hasBodies: format === 'ndjson' }
  let records = 0
  let bytes = 0
  let last: LogLineRow | null = null
  const end = (truncated: LogTrailer['truncated']): string => trailerOf(reads, wanted, { records, truncated, last })
  while (question !== null) {
    await checkMayGoOn(download)
    const { rows, next } = await readLogPage(reads, question, clock)
    const before = records
    let text: string = ''
    let truncated: LogTrailer['truncated'] = null
    for await (const row of sliced(rows, IN_BACKGROUND)) {
      const line = format === 'ndjson' ? `${JSON.stringify(lineOf(row))}\n` : logTextLine(row)
      bytes += Buffer.byteLength(line)
      truncated = records >= LIMITS.logExportRecords ? 'records' : bytes > LIMITS.logExportBytes ? 'bytes' : null
      if (truncated !== null) break
      text += line
      records += 1
      last = row
    }
    download.onRows(records - before)
    if (truncated !== null) return void (yield text + end(truncated))
    if (text !== '') yield text
    question = next === null ? null : { ...question, from: next }
  }
  yield end(null)
}

function logTextLine(row: LogLineRow): string {
  const at = new Date(row.at_ms).toISOString()
  return `${[at, row.status, row.method, row.path, row.code || '-', row.bytes, row.id].join(' ')}\n`
}

function trailerOf(
  reads: OrganizationFacts,
  { cursors, format }: LogExport,
  { records, truncated, last }: ExportedLines,
): string {
  const isCut = truncated !== null && last !== null
  const continueBefore = isCut
    ? cursors.write(reads.organization.id, { beforeMs: last.at_ms, beforeId: last.id })
    : null
  const trailer = JSON.stringify({ export: { records, truncated, continueBefore } satisfies LogTrailer })
  return format === 'ndjson' ? `${trailer}\n` : `# ${trailer}\n`
}
