/** The newest installs as CSV, each with where it came from. */

import { csvLine } from '../../common/csv.ts'
import { SOURCE_COLUMN_NAMES, SOURCE_COLUMNS } from '../../domain/collection/visit-source.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import type { PageClock } from '../logs/pages.ts'
import { readInstallPage, type SourcedInstall } from '../installs/list.ts'
import type { InstallFilters } from '../../ports/facts/pages/installs.ts'
import { checkMayGoOn, type Download } from './download.ts'

/** A statement for these takes 200 ms of processor time among 2 million install events, of 250 ms that it may take. */
const PAGE_ROWS = 2_500

const isoTime = (ms: number): string => new Date(ms).toISOString()

type CellOf = (row: SourcedInstall) => string | number | null

const COLUMNS: Readonly<Record<string, CellOf>> = {
  received_at: ({ install }) => isoTime(install.received_at_ms),
  website: ({ install }) => install.website,
  event_id: ({ install }) => install.event_id,
  event_type: ({ install }) => install.event_type,
  installation_id: ({ install }) => install.installation_id,
  install_path: ({ install }) => install.install_path,
  platform: ({ install }) => install.platform,
  arch: ({ install }) => install.arch,
  agent: ({ install }) => install.agent,
  resolution: ({ install }) => install.resolution,
  selection_policy: ({ install }) => install.selection_policy,
  candidate_count: ({ install }) => install.candidate_count,
  reason: ({ install }) => install.reason,
  visit_id: ({ install }) => install.visit_id,
  visit_at: ({ install }) => (install.visit_issued_at_ms === null ? null : isoTime(install.visit_issued_at_ms)),
  ...Object.fromEntries(
    SOURCE_COLUMN_NAMES.map((name): [string, CellOf] => [
      SOURCE_COLUMNS[name].csv,
      ({ visit }) => visit?.[name] ?? null,
    ]),
  ),
}
const BYTE_ORDER_MARK = '\u{FEFF}'

interface InstallExport extends Download {
  readonly filters: InstallFilters
  readonly sinceMs: number
  readonly from: LogPosition
  readonly clock: PageClock
  /** Some spreadsheets recognise UTF-8 only by a byte order mark. */
  readonly hasMark: boolean
}

/** The last line is one cell that begins with `#` and has the count: if it is missing, the download was cut off. */
export async function* exportInstalls(wanted: InstallExport): AsyncGenerator<string> {
  yield (wanted.hasMark ? BYTE_ORDER_MARK : '') + csvLine(Object.keys(COLUMNS))
  let rows = 0
  let position: LogPosition | null = wanted.from
  while (position !== null && rows < LIMITS.csvExportEvents) {
    await checkMayGoOn(wanted)
    const limit = Math.min(PAGE_ROWS, LIMITS.csvExportEvents - rows)
    const page = await readInstallPage(wanted.reads, { ...wanted, from: position, limit }, wanted.clock)
    rows += page.rows.length
    wanted.onRows(page.rows.length)
    yield page.rows.map((row) => csvLine(Object.values(COLUMNS).map((cell) => cell(row)))).join('')
    position = page.next
  }
  yield csvLine([`# ${rows} installs${position === null ? '' : '; older ones are left out'}`])
}
