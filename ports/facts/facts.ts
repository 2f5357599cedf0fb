/**
 * Facts: what happened, in ClickHouse. One adapter, two ways to connect (a server, or chDB in this process).
 *
 * Promises (test/contract/facts.contract.ts): an insert that resolved is on disk; repeating it shows no second row;
 * every query reads each natural key once; parameters are bound, never spliced.
 */

import { Outage } from '../../common/outage.ts'
import type { OwnedWebsite } from '../../domain/model.ts'
import type { FactTable } from './columns.ts'
import type { ErasedName, ErasedRows } from './erasure/names.ts'
import type { KeptWebsite } from './erasure/kept.ts'
import type { QueryName, QueryParams, QueryRow } from './queries.ts'
import type { StatementShare } from './query-rows.ts'

/** A row of any table by column name; `RowOf` says what a table's own holds. Times are Unix ms. */
export type FactRow = Readonly<Record<string, unknown>>

/**
 * Rows to be inserted, kept as the engine's text: 10,000 row objects cost the garbage collector more than the insert.
 */
interface RowBatch {
  /** Characters of text collected so far. */
  readonly chars: number
  /** Throws `RowsRefused` if the row does not fit its columns; the batch is then unchanged. */
  add(table: FactTable, row: FactRow): void
  /** Inserts all tables or rejects like `Facts.insert`; some tables may then hold their rows. Safe to repeat. */
  insert(): Promise<void>
}

export interface RunOptions {
  /** Aborted if the caller has gone: the query is not started, or is ended as soon as the engine can; `run` rejects with the reason. */
  readonly signal?: AbortSignal | undefined
  /** Who is charged for it, if people read by it. */
  readonly share?: StatementShare | undefined
  /** Websites that keep less than their rows say: what is older is left out. */
  readonly kept?: readonly KeptWebsite[] | undefined
  /** True if no request and no page waits: every statement then has the time of a report, and gives way to theirs. */
  readonly isPatient?: boolean
}

/** Runs named queries. */
export interface FactsReader {
  run<Q extends QueryName>(query: Q, params: QueryParams<Q>, options?: RunOptions): Promise<readonly QueryRow<Q>[]>
}

/** Runs named queries of which each row is done with at once. */
export interface FactsScanner {
  /**
   * As `run`, for thousands of rows: they are to be taken once, and may be made only as they are
   * taken, so that no garbage collection copies all of them. Taking them throws like `run` if one cannot be read.
   */
  each<Q extends QueryName>(query: Q, params: QueryParams<Q>, options?: RunOptions): Promise<Iterable<QueryRow<Q>>>
}

/** Inserts rows. */
export interface FactsWriter {
  /** Inserts whole or rejects; safe to repeat. Rejects with `FactsUnavailable` (repeat) or `RowsRefused` (bisect). */
  insert(table: FactTable, rows: readonly FactRow[]): Promise<void>
}

/** Counts what an erasure would delete. */
export interface ErasureCounter {
  /** Rows of each table that name one of these; all tables. At most `MAX_NAMES`. */
  countNamed(names: readonly ErasedName[]): Promise<ErasedRows>
  /** Rows of each table that are of this organisation, but what says that something was erased. */
  countOrganization(organization: string): Promise<ErasedRows>
}

/** Deletes for good. */
export interface FactsEraser extends ErasureCounter {
  /**
   * Deletes every row that names one of these, whatever else it contains, and resolves once no statement finds it any more.
   * Safe to repeat. It does not prevent such rows from being inserted later: the table `erasures` is for that.
   */
  erase(names: readonly ErasedName[]): Promise<void>
  /** Deletes all rows of this organisation. Safe to repeat; as for `erase`, later rows are another matter. */
  eraseOrganization(organization: string): Promise<void>
  /** Deletes what this website has from before, if there is any; says whether. Safe to repeat. */
  eraseOlder(owner: OwnedWebsite, beforeMs: number): Promise<boolean>
  /** Deletes the figures of these hours of a website (starts of hours, Unix ms), to be counted again. Safe to repeat. */
  eraseFigures(owner: OwnedWebsite, hours: readonly number[]): Promise<void>
}

/** Tells whether the engine answers. */
export interface FactsStatus {
  health(): { readonly isReachable: boolean; readonly lastInsertAtMs: number | null }
}

/** Collects rows of several tables, to be inserted together. */
export interface FactsBatches {
  startBatch(): RowBatch
}

/** All of the facts; whoever needs one part of them names that part. */
export interface Facts extends FactsReader, FactsScanner, FactsWriter, FactsBatches, FactsEraser, FactsStatus {
  close(): Promise<void>
}

/** The engine is unreachable or busy; the outcome is unknown, and repeating is safe. */
export class FactsUnavailable extends Outage {
  override readonly name = 'FactsUnavailable'
}

/** The engine does not accept these rows; carries the engine's code, never its text, which echoes row contents. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused'
  readonly engineCode: string
  constructor(engineCode: string) {
    super(`the engine refused the rows (code ${engineCode})`)
    this.engineCode = engineCode
  }
}
