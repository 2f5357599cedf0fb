/** What the one adapter needs of a way to reach the engine; `connect-chdb.ts` and `connect-server.ts` make one. */

/** Settings of a query by name, written into the statement itself, so that nothing leaks into a session. */
export type EngineSettings = Readonly<Record<string, string | number>>

export type QueryParameters = Readonly<Record<string, string | number | readonly string[] | readonly number[]>>

export interface InsertStatement {
  readonly table: string
  readonly columns: readonly string[]
  readonly settings: EngineSettings
  /** TabSeparated lines in UTF-8, in order, to be inserted as one statement. */
  readonly body: readonly Uint8Array[]
}

export interface TableLayout {
  /** Name of the cluster for `ON CLUSTER`; absent for one server or chDB. */
  readonly cluster?: string
  /** Replicated engines, with the server's `{shard}` and `{replica}` macros. */
  readonly isReplicated?: boolean
}

/** A statement's text must be complete but for FORMAT; rows come back as JSON objects. Errors are the client's own. */
export interface FactsConnection {
  /** `chdb` or `server`: for logs and health alone, never to branch on. */
  readonly kind: string
  /** No other process can be connected to the same engine. */
  readonly isExclusive: boolean
  /** How its tables are to be made; absent for one engine without replicas. */
  readonly layout?: TableLayout
  command(statement: string): Promise<void>
  /** `isUrgent`: somebody waits for it within a request, so it passes those that wait without. */
  query(
    statement: string,
    parameters: QueryParameters,
    options: { readonly isUrgent: boolean },
  ): Promise<readonly unknown[]>
  insert(insert: InsertStatement): Promise<void>
  close(): Promise<void>
}

/** `SETTINGS a = 1, b = 'x'`; values are ours, never a caller's. */
export function settingsClause(settings: EngineSettings): string {
  const parts = Object.entries(settings).map(([name, value]) => {
    return typeof value === 'number' ? `${name} = ${value}` : `${name} = '${value.replaceAll("'", "''")}'`
  })
  return parts.length === 0 ? '' : `SETTINGS ${parts.join(', ')}`
}
