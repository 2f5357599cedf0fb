/** The types of columns and rows: each table is declared once, and its inserts and reads follow from the declaration. */

import type { Cell } from '../../domain/figures/cells.ts'

/**
 * How a value is checked and written. `time` is Unix ms; `nullable time` takes null. Values that do not fit are refused
 * here, because the engine silently wraps integers that are too large.
 */
export type ColumnType = keyof ColumnValues

interface ColumnValues {
  readonly text: string
  readonly texts: readonly string[]
  readonly flag: boolean
  /** Null if nobody has said it. */
  readonly 'nullable flag': boolean | null
  readonly uint16: number
  readonly uint32: number
  readonly uint64: number
  /** Decides which row of a key wins, by all 64 bits if need be; no query returns it. */
  readonly version: number | bigint
  readonly uint64s: readonly number[]
  readonly float: number
  readonly time: number
  readonly 'nullable time': number | null
  readonly effect: 'activated' | 'revoked'
  /** Values of a dimension with their counts. */
  readonly cells: readonly Cell[]
}

/** The columns of a table by name, in the order in which a row is written. */
export type Columns = Readonly<Record<string, ColumnType>>

/** The position of an entry on the log, and which row of a key wins. */
const TRACE = { log_topic: 'text', log_partition: 'uint32', log_offset: 'uint64', row_version: 'version' } as const
/** Columns that every fact row carries for the table itself; no query returns them. */
export const KEPT = { retention_days: 'uint16', ...TRACE } as const

/** A row as it is inserted: a forgotten column does not compile. */
export type InsertRow<C extends Columns> = { readonly [N in keyof C]: ColumnValues[C[N]] }

/** The columns that queries return. */
export type ReadColumn<C extends Columns> = Exclude<keyof C & string, keyof typeof KEPT>

/** A row, or a part of one, as queries return it: times are Unix ms, under `<column>_ms`. */
export type ReadRow<C extends Columns, N extends keyof C & string = ReadColumn<C>> = {
  readonly [K in N as C[K] extends 'time' | 'nullable time' ? `${K}_ms` : K]: ColumnValues[C[K]]
}

/** The columns of a `ReadRow`, as a SELECT lists them; without names, all that queries return. */
export function selectList<C extends Columns>(
  columns: C,
  names: readonly (keyof C & string)[] = Object.keys(columns).filter((name) => !(name in KEPT)),
): string {
  const isTime = (name: string): boolean => columns[name]?.endsWith('time') === true
  return names.map((name) => (isTime(name) ? `toUnixTimestamp64Milli(${name}) AS ${name}_ms` : name)).join(', ')
}
