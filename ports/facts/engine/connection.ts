/** The connection to the engine as the adapter needs it; `connect-chdb.ts` and `connect-server.ts` make one. */

import type { StatementShare, QueryParameters, Turn } from '../query-rows.ts'

/** Settings of a query by name, written into the statement itself, so that nothing leaks into a session. */
export type EngineSettings = Readonly<Record<string, string | number>>

export interface InsertStatement {
  readonly table: string
  readonly columns: readonly string[]
  readonly settings: EngineSettings
  /** TabSeparated lines in UTF-8, in order, inserted as one statement. */
  readonly body: readonly Uint8Array[]
}

interface QueryOptions {
  /** Of statements that wait for each other, look-ups go first; pages and reports have a share each. */
  readonly turn: Turn
  /** For a statement that somebody reads by: it waits in the rank that this names, behind others' of its organisation and person. */
  readonly share?: StatementShare | undefined
  /** Aborting ends a statement that waits, or that a server runs; chDB finishes what it has started. */
  readonly signal?: AbortSignal | undefined
}

export interface TableLayout {
  /** Name of the cluster for `ON CLUSTER`; absent for one server or chDB. */
  readonly cluster?: string
  /** Replicated engines, with the server's `{shard}` and `{replica}` macros. */
  readonly isReplicated?: boolean
}

/**
 * Reads of the engine. A statement's text must be complete except for FORMAT; rows come back as JSON objects. Errors are the client's
 * own.
 */
export interface EngineReads {
  query(statement: string, parameters: QueryParameters, options: QueryOptions): Promise<readonly unknown[]>
  /** The same rows, to be taken once: an engine in this process makes each only as it is taken. */
  each(statement: string, parameters: QueryParameters, options: QueryOptions): Promise<Iterable<unknown>>
  /** Further settings of statements that no request waits for; absent if it runs in no process that answers requests. */
  readonly yielding?: EngineSettings
}

/** What the facts are kept by: statements on the engine's tables. */
export interface EngineTables extends EngineReads {
  /** How its tables are created; absent for one engine without replicas. */
  readonly layout?: TableLayout
  command(statement: string): Promise<void>
  insert(insert: InsertStatement): Promise<void>
}

/** The same rows as lines of JSON, for another thread, which cannot ask the engine itself. They are the caller's alone. */
export type EngineLines = (statement: string, parameters: QueryParameters, options: QueryOptions) => Promise<Buffer>

/** What another thread asks of an engine that is in this process. */
export interface EngineForThreads {
  /** Only on an engine in this process. */
  readonly lines?: EngineLines
  /** As of `EngineReads`. */
  readonly yielding?: EngineSettings
}

export interface FactsConnection extends EngineTables, EngineForThreads {
  /** `chdb` or `server`: only for logs and health, never to branch on. */
  readonly kind: string
  /** No other process can be connected to the same engine. */
  readonly isExclusive: boolean
  /** Only on an engine in this process; a server has means of its own. */
  readonly copies?: FactsCopies
  close(): Promise<void>
}

/** Copies all tables into a folder of this machine. Each table is copied in its state at one moment, while inserts go on. */
interface FactsCopies {
  /** The folder must not exist yet. */
  write(folder: string): Promise<void>
  /** Recreates the tables from a copy; no table of the same name may exist. */
  read(folder: string): Promise<void>
}

/** What `log_comment` of every statement begins with, in `system.query_log` and `system.processes` of a server. */
export const LOG_COMMENT = 'whence'

/** Names the statement there: `whence:visitLines`, `whence:insert visits`. */
export function namedAs(name: string): EngineSettings {
  return { log_comment: `${LOG_COMMENT}:${name}` }
}

/** `SETTINGS a = 1, b = 'x'`; values come from this service, never from a client. */
export function settingsClause(settings: EngineSettings): string {
  const list = settingsList(settings)
  return list === '' ? '' : `SETTINGS ${list}`
}

/** The same without its first word, for a clause that goes on. */
export function settingsList(settings: EngineSettings): string {
  const parts = Object.entries(settings).map(([name, value]) => {
    return typeof value === 'number' ? `${name} = ${value}` : `${name} = '${value.replaceAll("'", "''")}'`
  })
  return parts.join(', ')
}
