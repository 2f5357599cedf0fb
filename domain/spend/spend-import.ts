/** One import of ad spend: its records on the log, and what they add up to. */

import { LIMITS } from '../limits.ts'
import type { OwnedWebsite } from '../model.ts'
import { encodeRecord, recordKey } from '../records.ts'
import type { SpendImportRecord, SpendRowsRecord } from './spend-records.ts'
import type { SpendRow } from './spend-row.ts'

/** What is known of an import before its file is read. */
export interface NewSpendImport extends OwnedWebsite {
  /** Ascends with time: of two imports the later one has the greater ID, which decides whose days count. */
  readonly id: string
  readonly importedAtMs: number
  /** The person (`p_` and 16 hex digits); empty if it came from a command line. */
  readonly importedBy: string
  readonly fileName: string
  readonly retentionDays: number
}

interface LogEntry {
  readonly key: string
  readonly value: string
}

/**
 * Collects the rows of a file as entries of the log. They have one key, and so one partition, in whose order the import follows its rows: nothing of
 * it counts before all of it is stored, and rows without an import never count.
 */
export class SpendEntries {
  readonly #import: NewSpendImport
  readonly #key: string
  readonly #parts: LogEntry[] = []
  readonly #totals = new Map<string, number>()
  #open: SpendRowsRecord['rows'][number][] = []
  #chars = 0
  #rows = 0
  #firstDayMs = Infinity
  #lastDayMs = -Infinity

  constructor(own: NewSpendImport) {
    this.#import = own
    this.#key = recordKey(own, own.id)
  }

  add({ line, dayMs, source, campaign, currency, amount }: SpendRow): void {
    this.#rows += 1
    this.#firstDayMs = Math.min(this.#firstDayMs, dayMs)
    this.#lastDayMs = Math.max(this.#lastDayMs, dayMs)
    this.#totals.set(currency, (this.#totals.get(currency) ?? 0) + amount)
    this.#open.push([line, dayMs, source, campaign, currency, amount])
    this.#chars += ROW_CHARS + source.length + campaign.length
    if (this.#chars >= LIMITS.spendPartChars) this.#close()
  }

  /** The import, of which there must be a row, and all entries in the order in which they go to the log: its own is the last one. */
  finish(): { readonly record: SpendImportRecord; readonly entries: readonly LogEntry[] } {
    this.#close()
    const { id, organization, website, importedAtMs, importedBy, fileName, retentionDays } = this.#import
    const record: SpendImportRecord = {
      v: 1,
      kind: 'spend',
      holds: 'import',
      id,
      organization,
      website,
      importedAtMs,
      importedBy,
      fileName,
      rows: this.#rows,
      firstDayMs: this.#firstDayMs,
      lastDayMs: this.#lastDayMs,
      totals: [...this.#totals].map(([currency, amount]) => ({ currency, amount })),
      isRemoved: false,
      retentionDays,
    }
    return { record, entries: [...this.#parts, { key: this.#key, value: encodeRecord(record) }] }
  }

  #close(): void {
    if (this.#open.length === 0) return
    const { id: importId, organization, website, importedAtMs, retentionDays } = this.#import
    const own = { organization, website, importId, importedAtMs, retentionDays }
    this.#parts.push({
      key: this.#key,
      value: encodeRecord({ v: 1, kind: 'spend', holds: 'rows', ...own, rows: this.#open }),
    })
    this.#open = []
    this.#chars = 0
  }
}

/** More than a row has besides its texts. */
const ROW_CHARS = 64
