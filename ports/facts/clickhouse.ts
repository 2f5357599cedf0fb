/** Facts in ClickHouse, over either connection: inserts checked rows by partition, and runs named queries. */

import { sliced } from '../../common/sliced.ts'
import {
  settingsList,
  namedAs,
  type EngineTables,
  type FactsConnection,
  type InsertStatement,
  type TableLayout,
} from './engine/connection.ts'
import { insertError, queryError } from './engine/engine-codes.ts'
import {
  countNamed,
  countOrganization,
  eraseFigures,
  eraseNamed,
  eraseOlder,
  deleteOrganization,
} from './erasure/erase.ts'
import { RowsRefused } from './facts.ts'
import type { Facts, RunOptions, FactsEraser } from './facts.ts'
import { keptClause } from './erasure/kept.ts'
import { QUERIES } from './queries.ts'
import type { QueryName, QueryParams, QueryRow } from './queries.ts'
import type { Query } from './query-parts.ts'
import { collectRows } from './row-batch.ts'
import type { CollectedRows } from './row-batch.ts'
import { quorumOf, readSupportedSettings, sequenceOf } from './engine/settings.ts'

interface ClickHouseFactsOptions {
  readonly nowMs: () => number
}

/** What a query is asked with. */
type QueryCall<Q extends QueryName> = [name: Q, params: QueryParams<Q>, options?: RunOptions | undefined]

/** The tables must exist (`migrate`). Closing the result closes the connection. */
export function clickhouseFacts(connection: FactsConnection, options: ClickHouseFactsOptions): Facts {
  const settings = rememberOnce(() => readSupportedSettings(connection))
  let isReachable = true
  let lastInsertAtMs: number | null = null

  async function insertAll(rows: CollectedRows): Promise<void> {
    try {
      const { insert } = await settings()
      for (const statement of rows.statements(insert)) await connection.insert(completed(statement, connection.layout))
    } catch (error) {
      const known = insertError(error)
      isReachable = known instanceof RowsRefused
      throw known
    }
    isReachable = true
    lastInsertAtMs = options.nowMs()
  }

  async function ask<Q extends QueryName>(
    method: 'query' | 'each',
    [name, params, { signal, share, kept = [], isPatient = false } = {}]: QueryCall<Q>,
  ): Promise<Iterable<QueryRow<Q>>> {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- each query declares its parameters and rows
    const { sql, turn, isSequential = false } = QUERIES[name] as unknown as Query<QueryParams<Q>, QueryRow<Q>>
    try {
      const { clauses, patientClauses } = await settings()
      const clause = (isPatient ? patientClauses : clauses)[turn]
      const text = `${sql(params)} ${clause}, ${settingsList(namedAs(name))}${sequenceOf(isSequential, connection.layout)}${keptClause(kept, startOf(params))}`
      const rows = await connection[method](text, params, { turn: isPatient ? 'report' : turn, signal, share })
      isReachable = true
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- each query declares its parameters and rows
      return rows as Iterable<QueryRow<Q>>
    } catch (error) {
      // No caller waits for it any more, so the abort says nothing about the engine.
      signal?.throwIfAborted()
      isReachable = false
      throw queryError(error)
    }
  }

  return {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- each query declares its parameters and rows
    run: async <Q extends QueryName>(...asked: QueryCall<Q>) => (await ask('query', asked)) as readonly QueryRow<Q>[],
    each: async (...asked) => readable(await ask('each', asked)),
    startBatch() {
      const rows = collectRows()
      return {
        get chars() {
          return rows.chars
        },
        add: (table, row) => rows.add(table, row),
        insert: () => insertAll(rows),
      }
    },
    async insert(table, rows) {
      const collected = collectRows()
      for await (const row of sliced(rows)) collected.add(table, row)
      await insertAll(collected)
    },
    ...erasingFrom(connection),
    health: () => ({ isReachable, lastInsertAtMs }),
    close: () => connection.close(),
  }
}

function erasingFrom(connection: EngineTables): FactsEraser {
  return {
    countNamed: (names) => countNamed(connection, names).catch(asQueryError),
    erase: (names) => eraseNamed(connection, names).catch(asQueryError),
    countOrganization: (organization) => countOrganization(connection, organization).catch(asQueryError),
    eraseOrganization: (organization) => deleteOrganization(connection, organization).catch(asQueryError),
    eraseOlder: (owner, beforeMs) => eraseOlder(connection, owner, beforeMs).catch(asQueryError),
    eraseFigures: (owner, hours) => eraseFigures(connection, owner, hours).catch(asQueryError),
  }
}

/** The beginning of the period that is asked for, in Unix ms; before all times if there is none. */
function startOf(params: object): number {
  return 'since_ms' in params && typeof params.since_ms === 'number' ? params.since_ms : -Infinity
}

/** The same rows. If one cannot be read, the error may quote it, so a `FactsUnavailable` is thrown in its place. */
function* readable<Row>(rows: Iterable<Row>): Generator<Row> {
  try {
    yield* rows
  } catch (error) {
    throw queryError(error)
  }
}

function asQueryError(error: unknown): never {
  throw error instanceof RangeError ? error : queryError(error)
}

/** With its name and, on replicas, a majority. */
function completed(statement: InsertStatement, layout: TableLayout | undefined): InsertStatement {
  const { table, settings } = statement
  return { ...statement, settings: { ...settings, ...namedAs(`insert ${table}`), ...quorumOf(table, layout) } }
}

/** Reads something once, when it is first needed; a failure is not remembered, so the next call tries again. */
function rememberOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | null = null
  return () => {
    known ??= read().catch((error: unknown) => {
      known = null
      throw error
    })
    return known
  }
}
