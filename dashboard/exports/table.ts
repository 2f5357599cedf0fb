/** A list as CSV, the newest rows first. */

import { csvLine } from '../../common/csv.ts'
import { IN_BACKGROUND, sliced } from '../../common/sliced.ts'
import type { FigureFilter } from '../../domain/figures/filters.ts'
import { LIMITS } from '../../domain/limits.ts'
import type { LogPosition } from '../../domain/logs/walk.ts'
import type { AskedOfList } from '../installs/list.ts'
import { checkMayGoOn, type Download } from './download.ts'

/** What a request asks for, with its filters read. */
export interface AskedOfTable extends AskedOfList {
  readonly filters: readonly FigureFilter[]
}

export interface ListedTable<Row> {
  /** What a row is, as the last line counts them: "installs". */
  readonly what: string
  /**
   * When its rows changed last, Unix ms. Set if rows that change while they are read are left out, or if older ones are stored: the last line
   * of the file then says so.
   */
  readonly period?: { readonly sinceMs: number; readonly untilMs: number }
  /** Each cell by the name of its column. */
  readonly columns: Readonly<Record<string, (row: Row) => string | number | null>>
  /** As many as a statement may find in a quarter of a second. */
  readonly pageRows: number
  readonly from: LogPosition
  readonly read: (
    from: LogPosition,
    limit: number,
  ) => Promise<{ readonly rows: readonly Row[]; readonly next: LogPosition | null }>
}

interface TableExport extends Download {
  /** Some spreadsheets recognise UTF-8 only by a byte order mark. */
  readonly hasMark: boolean
}

const BYTE_ORDER_MARK = '\u{FEFF}'

export const isoTime = (ms: number): string => new Date(ms).toISOString()
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

/** The last line is one cell that begins with `#` and has the count: if it is missing, the download was cut off. */
export async function* exportTable<Row>(table: ListedTable<Row>, wanted: TableExport): AsyncGenerator<string> {
  yield (wanted.hasMark ? BYTE_ORDER_MARK : '') + csvLine(Object.keys(table.columns))
  const cells = Object.values(table.columns)
  let rows = 0
  let position: LogPosition | null = table.from
  while (position !== null && rows < LIMITS.csvExportEvents) {
    await checkMayGoOn(wanted)
    const page = await table.read(position, Math.min(table.pageRows, LIMITS.csvExportEvents - rows))
    rows += page.rows.length
    wanted.onRows(page.rows.length)
    let text = ''
    for await (const row of sliced(page.rows, IN_BACKGROUND)) text += csvLine(cells.map((cell) => cell(row)))
    yield text
    position = page.next
  }
  yield csvLine([`# ${rows} ${table.what}${periodText(table)}${position === null ? '' : '; older ones are left out'}`])
}

function periodText<Row>({ period }: ListedTable<Row>): string {
  return period === undefined ? '' : ` that changed last from ${isoTime(period.sinceMs)} to ${isoTime(period.untilMs)}`
}
