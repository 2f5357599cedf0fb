/** What the service says of a world: the API of its pages, and the command line as JSON and as CSV. */

import type { Ran } from '../../bin/support/run-whencectl.ts'
import type { Counts, Period, Rows } from '../world/book.ts'

export interface Answered {
  readonly total: { readonly installs: Counts; readonly visits: Counts }
  readonly rows: Rows
}

export type Row = Readonly<Record<string, unknown>>

/** The names of a world's book; a surface may count more. */
export const INSTALLS = [
  'installs',
  'matched',
  'unmatched',
  'counted',
  'pending',
  'known_source',
  'completed',
  'ran',
  'upgrades',
  'reinstalls',
]
export const VISITS = ['visits', 'activated', 'copied', 'installed', 'converted']

/** Of the page Sources. */
export function answeredByApi(body: { readonly total: Row; readonly rows: readonly Row[] }): Answered {
  return {
    total: { installs: counts(body.total, INSTALLS), visits: counts(objectIn(body.total['visits']) ?? {}, VISITS) },
    rows: new Map(
      body.rows.map((row) => {
        const visits = objectIn(row['visits'])
        return [
          `${String(row['row'])} ${String(row['value'])}`,
          { installs: counts(row, INSTALLS), visits: visits === null ? null : counts(visits, VISITS) },
        ]
      }),
    ),
  }
}

/** Lines of `whencectl report --json`: visits and copies stand beside the installs. */
export function rowsOfReport({ stdout }: Ran, by: string): ReadonlyMap<string, Row> {
  const lines = stdout.split('\n').filter((line) => line !== '')
  return new Map(
    lines.map((line) => {
      const row = objectIn(JSON.parse(line)) ?? {}
      return [`${String(row['row'])} ${String(row[by])}`, row]
    }),
  )
}

/** Lines of `whencectl report --csv`, which quotes what has a comma. */
export function rowsOfCsv({ stdout }: Ran): ReadonlyMap<string, Row> {
  const [head = [], ...lines] = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map(cellsOf)
  return new Map(
    lines.map((cells) => [
      `${cells[1]} ${cells[0]}`,
      Object.fromEntries(head.slice(2).map((name, place) => [name, Number(cells[place + 2])])),
    ]),
  )
}

/** A comma before the line gives each cell one of its own, an empty first one too. */
export function cellsOf(line: string): readonly string[] {
  const cells = `,${line.trimEnd()}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...cells].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
}

/** What a line of the report must say; absent visits are no numbers there. */
export function reported(
  { installs, visits }: { readonly installs: Counts; readonly visits: Counts | null },
  row: Row | undefined,
): { readonly is: Row; readonly mustBe: Row } {
  const mustBe = visits === null ? installs : { ...installs, visits: visits['visits'], copied: visits['copied'] }
  return { is: counts(row ?? {}, Object.keys(mustBe)), mustBe }
}

/** Texts of moments that the command line takes. */
export function periodWords({ since, until }: Period): readonly string[] {
  const word = (at: number): string => new Date(at).toISOString().slice(0, 16)
  return ['--since', word(since), '--until', word(until)]
}

/** These numbers of a row. */
export function counts(row: Row, names: readonly string[]): Counts {
  return Object.fromEntries(names.map((name) => [name, Number(row[name])]))
}

export function objectIn(value: unknown): Row | null {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : null
}
