/** Connects to a ClickHouse server over HTTP. */

import { Readable } from 'node:stream'

import { createClient } from '@clickhouse/client'
import type { ClickHouseClient } from '@clickhouse/client'

import { settingsClause } from './connection.ts'
import type { FactsConnection, InsertStatement, QueryParameters } from './connection.ts'

/** Long enough for a batch on a busy server; the facts-writer repeats what took longer. */
const REQUEST_TIMEOUT_MS = 30_000
const MAX_OPEN_CONNECTIONS = 8
/** Below every usual keep-alive of a server (3 s and more): a socket that it has just closed ends in ECONNRESET. */
const IDLE_SOCKET_TTL_MS = 1_500

/** `url` is `http(s)://user:password@host:port/database`. Nothing is sent before the first statement. */
export function openClickHouse(url: string): FactsConnection {
  const client = createClient({
    url,
    application: 'whence',
    request_timeout: REQUEST_TIMEOUT_MS,
    max_open_connections: MAX_OPEN_CONNECTIONS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_TTL_MS },
    compression: { request: false, response: false },
  })
  return {
    kind: 'server',
    isExclusive: false,
    command: async (statement) => {
      await client.command({ query: statement })
    },
    query: (statement, parameters) => select(client, statement, parameters),
    insert: (insert) => stream(client, insert),
    close: () => client.close(),
  }
}

async function select(
  client: ClickHouseClient,
  statement: string,
  parameters: QueryParameters,
): Promise<readonly unknown[]> {
  const result = await client.query({ query: statement, query_params: { ...parameters }, format: 'JSONEachRow' })
  return result.json()
}

async function stream(client: ClickHouseClient, insert: InsertStatement): Promise<void> {
  const head = `INSERT INTO ${insert.table} (${insert.columns.join(', ')})`
  const result = await client.exec({
    query: `${head} ${settingsClause(insert.settings)} FORMAT TabSeparated`,
    values: Readable.from(insert.body, { objectMode: false }),
  })
  result.stream.destroy()
}
