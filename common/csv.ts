/** Lines of CSV (RFC 4180) that a spreadsheet can open without running anything in them. */

const MUST_QUOTE = /[",\r\n\t]/
/** Texts that spreadsheets take for a formula, also after quotes and blanks that they drop. */
const LOOKS_LIKE_FORMULA = /^["'\s]*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * The same where a program splits a line by semicolons or tabs instead. It then takes the quotes of a cell for text, since they
 * do not stand where its own cells begin, so the line ends within them end the row.
 */
const FORMULA_INSIDE = /([;\t\r\n])(?=(?:["']|[^\S\t\r\n])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g

/** One line with its line end, as the standard requires. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** One cell. A text gets an apostrophe wherever it looks like a formula to a spreadsheet, and is then quoted. */
export function csvCell(cell: string | number | null): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = (LOOKS_LIKE_FORMULA.test(cell) ? "'" : '') + cell.replace(FORMULA_INSIDE, "$1'")
  return text !== cell || MUST_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
