/** Draws rows as an aligned table for a terminal, and formats times for people. */

import { printable } from '../../common/printable.ts'

const GAP = '  '
const CELL_CHARS_MAX = 60
/** Width of the last column if the terminal is too narrow for the others. */
const LAST_CHARS_MIN = 20

export interface TextColumn<R> {
  readonly head: string
  readonly cell: (row: R) => string
}

interface TextTable<R> {
  /** The lines of these rows, preceded by the head the first time; columns only grow, so that pages line up. */
  readonly lines: (rows: readonly R[]) => string[]
}

/** `widthChars` is the terminal's; null if the output goes elsewhere, and the last column is then not truncated. */
export function createTable<R>(columns: readonly TextColumn<R>[], widthChars: number | null): TextTable<R> {
  const heads = columns.map(({ head }) => head)
  const widths = heads.map(widthOf)
  const last = columns.length - 1
  let hasHead = false

  const line = (cells: readonly string[]): string => {
    const used = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0)
    const left = widthChars === null ? Infinity : Math.max(LAST_CHARS_MIN, widthChars - used)
    return cells
      .map((text, index) => (index === last ? shorten(text, left) : padded(text, widths[index] ?? 0)))
      .join(GAP)
      .trimEnd()
  }
  return {
    lines: (rows) => {
      if (rows.length === 0) return []
      const body = rows.map((row) => columns.map(({ cell }, index) => cellText(cell(row), index === last)))
      for (const cells of body) {
        cells.slice(0, last).forEach((text, index) => (widths[index] = Math.max(widths[index] ?? 0, widthOf(text))))
      }
      const all = hasHead ? body : [heads, ...body]
      hasHead = true
      return all.map(line)
    },
  }
}

/** The width of the terminal on standard output; null if there is none. */
export function terminalChars(): number | null {
  return process.stdout.isTTY ? process.stdout.columns : null
}

/** `2026-11-21 10:56:27`, in UTC like everything stored. */
export function timeText(ms: number | null): string {
  return ms === null ? '-' : preciseTimeText(ms).slice(0, 19)
}

/** The same with milliseconds, for the order within a second. */
export function preciseTimeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
}

const UNITS = [
  { below: 1_000, size: 1, name: 'ms' },
  { below: 120_000, size: 1_000, name: 's' },
  { below: 7_200_000, size: 60_000, name: 'min' },
  { below: 172_800_000, size: 3_600_000, name: 'h' },
  { below: Infinity, size: 86_400_000, name: 'days' },
] as const

/** `42 s`, `5 h`: one rounded figure. */
export function durationText(ms: number): string {
  const spanMs = Math.max(0, ms)
  const unit = UNITS.find(({ below }) => spanMs < below) ?? UNITS[UNITS.length - 1]
  return unit === undefined ? '' : `${Math.round(spanMs / unit.size)} ${unit.name}`
}

function cellText(text: string, isLast: boolean): string {
  const clean = printable(text)
  return isLast ? clean : shorten(clean, CELL_CHARS_MAX)
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u

/** Columns that the text occupies on a terminal: East Asian characters take two, combining marks none. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += /\p{Mark}/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

function shorten(text: string, width: number): string {
  if (text.length <= width / 2 || widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const character of text) {
    used += widthOf(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept}…`
}
