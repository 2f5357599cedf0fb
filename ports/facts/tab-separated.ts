/**
 * Writes rows as ClickHouse's TabSeparated text, and refuses values that their column cannot hold.
 *
 * Of the formats that both connections accept, this one is the cheapest to write and to read: bodies full of quotes
 * need no escapes. Text becomes well-formed on the way, because UTF-8 has no lone surrogates.
 */

import { isList, isWhole } from '../../domain/guards.ts'
import type { ColumnType } from './column-types.ts'
import { FACT_TABLES, TABLE_COLUMNS, type FactTable } from './columns.ts'
import { RowsRefused, type FactRow } from './facts.ts'
import { DAY_MS, LAST_MOMENT_MS } from '../../domain/durations.ts'
import { VISIT_STEPS } from '../../domain/figures/cells.ts'

/** This service's own code in `RowsRefused`, besides the engine's numbers. */
const OUT_OF_RANGE = 'OUT_OF_RANGE'

/** A value with its counts. */
const CELL_FIELDS = 1 + VISIT_STEPS.length
const UINT16_MAX = 0xffff
const UINT32_MAX = 0xffff_ffff
const UINT64_MAX = 0xffff_ffff_ffff_ffffn

const MUST_ESCAPE = /[\\\t\n\r\0\b\f]/
const EVERY_ESCAPE = /[\\\t\n\r\0\b\f]/g
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
}

type Encoder = (value: unknown) => string

const ENCODERS: { readonly [T in ColumnType]: Encoder } = {
  text: encodeText,
  texts: encodeTexts,
  flag: encodeFlag,
  uint16: (value) => encodeWhole(value, UINT16_MAX),
  uint32: (value) => encodeWhole(value, UINT32_MAX),
  uint64: (value) => encodeWhole(value, Number.MAX_SAFE_INTEGER),
  version: encodeVersion,
  uint64s: encodeNumbers,
  float: (value) => (typeof value === 'number' && Number.isFinite(value) ? String(value) : refuseRange()),
  time: encodeTime,
  'nullable flag': (value) => (value === null ? '\\N' : encodeFlag(value)),
  'nullable time': (value) => (value === null ? '\\N' : encodeTime(value)),
  effect: (value) => (value === 'activated' || value === 'revoked' ? value : refuseRange()),
  cells: encodeCells,
}

interface Field {
  readonly column: string
  readonly encode: Encoder
}

const FIELDS: ReadonlyMap<FactTable, readonly Field[]> = new Map(
  FACT_TABLES.map((table) => [
    table,
    Object.entries(TABLE_COLUMNS[table].columns).map(([column, type]): Field => ({ column, encode: ENCODERS[type] })),
  ]),
)

/** One line with its newline, in the order of `TABLE_COLUMNS`. Throws `RowsRefused`. */
export function encodeRow(table: FactTable, row: FactRow): string {
  let line = ''
  let separator = ''
  for (const { column, encode } of FIELDS.get(table) ?? []) {
    line += separator + encode(row[column])
    separator = '\t'
  }
  return `${line}\n`
}

/** A number that rows of a table share if they are in one partition. Throws `RowsRefused`. */
export function partitionOf(table: FactTable, row: FactRow): number {
  const { partitionedBy } = TABLE_COLUMNS[table]
  if (partitionedBy === null) return 0
  const time = row[partitionedBy.column]
  if (!isTime(time)) return refuseRange()
  const day = Math.floor(time / DAY_MS)
  return partitionedBy.span === 'day' ? day : monthNumber(day)
}

let knownDay = -1
let knownMonth = -1

/** Months since 1970. Most rows of one batch fall on one day, and a Date is slow to make. */
function monthNumber(day: number): number {
  if (day !== knownDay) {
    const date = new Date(day * DAY_MS)
    knownMonth = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
    knownDay = day
  }
  return knownMonth
}

function encodeText(value: unknown): string {
  if (typeof value !== 'string') return refuseRange()
  return MUST_ESCAPE.test(value) ? value.replace(EVERY_ESCAPE, (character) => ESCAPES[character] ?? character) : value
}

/** An array is text inside text: its quotes are escaped first, then the whole field again by the same rule. */
function encodeTexts(value: unknown): string {
  if (!Array.isArray(value)) return refuseRange()
  return `[${value.map((item) => `'${encodeText(item).replaceAll("'", "\\'")}'`).join(',')}]`
}

function encodeCells(value: unknown): string {
  if (!Array.isArray(value)) return refuseRange()
  return `[${value.map(encodeCell).join(',')}]`
}

function encodeCell(cell: unknown): string {
  if (!isList(cell) || cell.length !== CELL_FIELDS) return refuseRange()
  const [value, ...counts] = cell
  return `('${encodeText(value).replaceAll("'", "\\'")}',${counts.map((count) => encodeWhole(count, UINT32_MAX)).join(',')})`
}

function encodeWhole(value: unknown, max: number): string {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
    ? String(value)
    : refuseRange()
}

function encodeVersion(value: unknown): string {
  if (typeof value !== 'bigint') return encodeWhole(value, Number.MAX_SAFE_INTEGER)
  return value >= 0n && value <= UINT64_MAX ? String(value) : refuseRange()
}

/** JSON has the engine's form of an array of numbers, and is the fastest way to it. */
function encodeNumbers(value: unknown): string {
  return Array.isArray(value) && value.every(isEncodableWhole) ? JSON.stringify(value) : refuseRange()
}

function isEncodableWhole(value: unknown): boolean {
  return isWhole(value) && value >= 0
}

/**
 * Seconds and a fraction: some versions read a bare whole number as seconds and others as ms. Always ten digits of
 * seconds, because fewer are parsed as the beginning of a calendar date.
 */
function encodeFlag(value: unknown): string {
  if (typeof value !== 'boolean') return refuseRange()
  return value ? '1' : '0'
}

function encodeTime(value: unknown): string {
  if (!isTime(value)) return refuseRange()
  const fraction = String(value % 1000)
  const seconds = String(Math.floor(value / 1000))
  return `${'0000000000'.slice(seconds.length)}${seconds}.${'000'.slice(fraction.length)}${fraction}`
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LAST_MOMENT_MS
}

function refuseRange(): never {
  throw new RowsRefused(OUT_OF_RANGE)
}
