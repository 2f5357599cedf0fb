/** Reads the records of a CSV file (RFC 4180) from pieces of its text, so that a file need not be in memory as a whole. */

export interface CsvRecord {
  /** Of the file, counted from 1: where the record begins. */
  readonly line: number
  readonly fields: readonly string[]
}

/** Why the text is no CSV file, and where. */
export interface CsvFault {
  readonly line: number
  /** Counted from 1. */
  readonly field: number
  readonly message: string
}

/** Far more columns than any export has: a row of five million commas would take forty times their space. */
const MOST_FIELDS = 200

/** `start`: nothing of the field is read yet. `closed`: its closing quote is. */
type FieldPlace = 'start' | 'plain' | 'quoted' | 'closed'

/** Lines end with a line feed, a carriage return, or both. Empty lines are no records. */
export class CsvReader {
  #place: FieldPlace = 'start'
  #field = ''
  #fields: string[] = []
  #line = 1
  #recordLine = 1
  #isAfterReturn = false
  #fault: CsvFault | null = null

  /** Null as long as the text is right. After a fault nothing more is read. */
  get fault(): CsvFault | null {
    return this.#fault
  }

  /** The records that end in this piece. */
  *read(text: string): Generator<CsvRecord, void> {
    for (const char of text) {
      if (this.#fault !== null) return
      const isSecondOfPair = char === '\n' && this.#isAfterReturn
      this.#isAfterReturn = char === '\r'
      if (isSecondOfPair && this.#place !== 'quoted') continue
      if ((char === '\n' || char === '\r') && !isSecondOfPair) this.#line += 1
      if (this.#place === 'quoted') this.#takeQuoted(char)
      else if (char === '\n' || char === '\r') yield* this.#endRecord()
      else this.#take(char)
    }
  }

  /** The last record, if the file does not end with a line break. */
  *end(): Generator<CsvRecord, void> {
    if (this.#place === 'quoted') this.#refuse('begins with a quote that nothing closes')
    if (this.#fault === null) yield* this.#endRecord()
  }

  #takeQuoted(char: string): void {
    if (char === '"') this.#place = 'closed'
    else this.#field += char
  }

  #take(char: string): void {
    if (char === ',') return this.#endField()
    if (char === '"' && this.#place !== 'plain') {
      // A quote in a quoted field is written twice.
      if (this.#place === 'closed') this.#field += char
      this.#place = 'quoted'
      return undefined
    }
    if (this.#place === 'closed') return this.#refuse('goes on after its closing quote')
    if (char === '"') return this.#refuse('has a quote but does not begin with one')
    this.#place = 'plain'
    this.#field += char
    return undefined
  }

  #endField(): void {
    this.#fields.push(this.#field)
    this.#field = ''
    this.#place = 'start'
    if (this.#fields.length >= MOST_FIELDS) this.#refuse(`is one of more than ${MOST_FIELDS}`)
  }

  *#endRecord(): Generator<CsvRecord, void> {
    const isEmptyLine = this.#fields.length === 0 && this.#place === 'start'
    if (!isEmptyLine) this.#endField()
    const record = { line: this.#recordLine, fields: this.#fields }
    this.#fields = []
    this.#recordLine = this.#line
    if (!isEmptyLine && this.#fault === null) yield record
  }

  #refuse(message: string): void {
    this.#fault = { line: this.#recordLine, field: this.#fields.length + 1, message }
  }
}
