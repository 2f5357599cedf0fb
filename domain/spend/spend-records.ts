/** The entries of the log that hold ad spend: the rows of a file in parts, and then the import, without which they do not count. */

import type { OwnedWebsite } from '../model.ts'

/** A sum in one currency, in its smallest unit. Currencies are never added up. */
export interface SpendTotal {
  readonly currency: string
  readonly amount: number
}

/** Line of the file, Unix ms of the day in UTC, source, campaign, currency, amount in its smallest unit. */
type StoredSpendRow = readonly [
  line: number,
  dayMs: number,
  source: string,
  campaign: string,
  currency: string,
  amount: number,
]

/** Some rows of a file. */
export interface SpendRowsRecord extends OwnedWebsite {
  readonly v: 1
  readonly kind: 'spend'
  readonly holds: 'rows'
  readonly importId: string
  readonly importedAtMs: number
  readonly rows: readonly StoredSpendRow[]
  readonly retentionDays: number
}

/** All rows of an import are on the log. The same again with `isRemoved`: it no longer counts. */
export interface SpendImportRecord extends OwnedWebsite {
  readonly v: 1
  readonly kind: 'spend'
  readonly holds: 'import'
  readonly id: string
  readonly importedAtMs: number
  /** The person (`p_` and 16 hex digits); empty if it came from a command line. */
  readonly importedBy: string
  readonly fileName: string
  readonly rows: number
  readonly firstDayMs: number
  readonly lastDayMs: number
  readonly totals: readonly SpendTotal[]
  readonly isRemoved: boolean
  readonly retentionDays: number
}

export type SpendRecord = SpendRowsRecord | SpendImportRecord
