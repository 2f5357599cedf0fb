/** A table as a file that any spreadsheet opens: the numbers that it shows, and times that people read. */

import type { ReactNode } from 'react'

import { csvLine } from '../../common/csv.ts'

type CsvCell = string | number | null

interface CsvLinkProps {
  /** Of the file, without its ending. */
  readonly name: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly CsvCell[])[]
}

export function CsvLink({ name, head, rows }: CsvLinkProps): ReactNode {
  const text = [head, ...rows].map((row) => csvLine(row)).join('')
  return (
    <a href={`data:text/csv;charset=utf-8,${encodeURIComponent(text)}`} download={`${name}.csv`}>
      Download as CSV
    </a>
  )
}

/** In UTC, to the second: programs and people read it alike. */
export function csvTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000', '')
}
