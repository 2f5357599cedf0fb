/** Draws rows as an aligned table for a terminal, and times as people read them. */

const GAP = '  '
const CELL_CHARS_MAX = 60

export interface Column<R> {
  readonly head: string
  readonly cell: (row: R) => string
}

/** Lines of a table, the head first unless the rows go on from an earlier page. */
export function tableLines<R>(rows: readonly R[], columns: readonly Column<R>[], hasHead: boolean): string[] {
  const body = rows.map((row) => columns.map(({ cell }) => shorten(printable(cell(row)))))
  const heads = columns.map(({ head }) => head)
  const widths = heads.map((head, index) => Math.max(head.length, ...body.map((cells) => cells[index]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => (index === cells.length - 1 ? text : text.padEnd(widths[index] ?? 0)))
      .join(GAP)
      .trimEnd()
  return [...(hasHead ? [line(heads)] : []), ...body.map(line)]
}

export function timeText(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 23).replace('T', ' ')}`
}

/** What came from outside must not steer the terminal. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\uFFFD')
}

function shorten(text: string): string {
  return text.length <= CELL_CHARS_MAX ? text : `${text.slice(0, CELL_CHARS_MAX - 1)}…`
}
