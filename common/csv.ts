/** Lines of CSV (RFC 4180) that a spreadsheet can open without running anything in them. */

const MUST_QUOTE = /[",\r\n\t]/
/** Texts that spreadsheets take for a formula, also after quotes and blanks that they drop. */
const LOOKS_LIKE_FORMULA = /^["'\s]*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/** One line with its line end, as the standard requires. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** One cell. A text that looks like a formula gets an apostrophe in front, and is quoted. */
export function csvCell(cell: string | number | null): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const isFormula = LOOKS_LIKE_FORMULA.test(cell)
  const text = isFormula ? `'${cell}` : cell
  return isFormula || MUST_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
