/** Reads a CSV file of ad spend piece by piece: its rows, and what is wrong with it. A file with a problem is not imported at all. */

import { recordOf } from '../typed-keys.ts'
import { LIMITS } from '../limits.ts'
import { CsvReader, type CsvRecord } from './csv-reader.ts'
import { SPEND_COLUMNS, type SpendColumn, type SpendForm } from './spend-form.ts'
import { checkSpendRow, type SpendDays, type SpendRow } from './spend-row.ts'

export interface SpendProblem {
  /** Of the file, counted from 1. */
  readonly line: number
  /** The header of the column; empty if the problem is not one of a column. */
  readonly column: string
  /** Follows the name of the column, or is a sentence without it. Quotes nothing from the file. */
  readonly message: string
}

/** Where each column is among the fields of a record. */
interface FileLayout {
  readonly places: Readonly<Record<SpendColumn, number>>
  readonly headers: readonly string[]
}

const NOT_UTF_8 = 'The file is not UTF-8; a spreadsheet saves it as "CSV UTF-8".'

/**
 * The first line is the header; columns that the form does not name are passed over. Rows of the same day, source and campaign add up: exports have one
 * for each ad group or device.
 */
export class SpendReader {
  readonly #form: SpendForm
  readonly #days: SpendDays
  readonly #csv = new CsvReader()
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #problems: SpendProblem[] = []
  #layout: FileLayout | null = null
  #isUnreadable = false
  #lastLine = 1
  #rows = 0

  constructor(form: SpendForm, days: SpendDays) {
    this.#form = form
    this.#days = days
  }

  /** The first ones, in the order of the file; empty if it is right so far. */
  get problems(): readonly SpendProblem[] {
    return this.#problems
  }

  /** Nothing that follows matters any more. */
  get isGivenUp(): boolean {
    const hasNoLayout = this.#problems.length > 0 && this.#layout === null
    return (
      hasNoLayout || this.#isUnreadable || this.#csv.fault !== null || this.#problems.length >= LIMITS.spendProblems
    )
  }

  /** The rows that end in this piece. */
  *read(bytes: Uint8Array): Generator<SpendRow, void> {
    const text = this.#decode(bytes)
    if (text !== null) yield* this.#take(this.#csv.read(text))
  }

  /** The last row, if the file does not end with a line break; then `problems` are complete. */
  *end(): Generator<SpendRow, void> {
    if (this.isGivenUp) return
    const text = this.#decode()
    if (text === null) return
    yield* this.#take(this.#csv.read(text))
    yield* this.#take(this.#csv.end())
    if (this.#rows > 0 || this.#problems.length > 0) return
    this.#note(this.#lastLine, '', this.#layout === null ? 'The file is empty.' : 'There is no row below the header.')
  }

  /** Null if it cannot be read. The byte-order mark at the beginning is left out. */
  #decode(bytes?: Uint8Array): string | null {
    if (this.isGivenUp) return null
    try {
      return bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true })
    } catch {
      this.#note(this.#lastLine, '', NOT_UTF_8)
      this.#isUnreadable = true
      return null
    }
  }

  *#take(records: Iterable<CsvRecord>): Generator<SpendRow, void> {
    for (const record of records) {
      this.#lastLine = record.line
      if (this.#layout === null) this.#layout = this.#readHeader(record)
      else {
        const row = this.#readRow(record, this.#layout)
        if (row !== null) yield row
      }
      if (this.isGivenUp) return
    }
    const { fault } = this.#csv
    if (fault !== null) this.#note(fault.line, this.#layout?.headers[fault.field - 1] ?? '', fault.message)
  }

  #readHeader({ line, fields }: CsvRecord): FileLayout | null {
    const { headers, fixed } = this.#form
    const wanted = SPEND_COLUMNS.filter((column) => !Object.hasOwn(fixed, column))
    const isDivided = fields.length > 1 || wanted.every((column) => fields.includes(headers[column]))
    if (!isDivided && /[;\t]/.test(fields[0] ?? '')) {
      this.#note(line, '', 'Columns must be separated by commas, not by semicolons or tabs.')
      return null
    }
    for (const column of wanted) {
      const count = fields.filter((field) => field === headers[column]).length
      if (count === 0) this.#note(line, headers[column], 'is not a column of the first line')
      if (count > 1) this.#note(line, headers[column], 'comes twice in the first line')
    }
    if (this.#problems.length > 0) return null
    return { places: recordOf(SPEND_COLUMNS, (column) => fields.indexOf(headers[column])), headers: fields }
  }

  #readRow({ line, fields }: CsvRecord, { places, headers }: FileLayout): SpendRow | null {
    this.#rows += 1
    if (fields.length !== headers.length) {
      this.#note(line, '', `The line has ${fields.length} fields, and the first line has ${headers.length}.`)
      return null
    }
    const fixed: Partial<Record<SpendColumn, string>> = this.#form.fixed
    const texts = recordOf(SPEND_COLUMNS, (column) => fixed[column] ?? fields[places[column]] ?? '')
    const row = checkSpendRow(line, texts, this.#days)
    if (!('wrong' in row)) return row
    this.#note(line, this.#form.headers[row.column], row.wrong)
    return null
  }

  #note(line: number, column: string, message: string): void {
    this.#problems.push({ line, column, message })
  }
}
