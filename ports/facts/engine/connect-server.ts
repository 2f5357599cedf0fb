/** Connects to a ClickHouse server over HTTP. */

import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { ClickHouseClient, ClickHouseClientConfigOptions, QueryParams } from '@clickhouse/client'

import { parseClickHouseUrl } from './clickhouse-url.ts'
import type { ClickHouseTls } from './clickhouse-url.ts'
import { LOG_COMMENT, settingsClause } from './connection.ts'
import { EngineSilent } from './engine-codes.ts'
import type { FactsConnection, InsertStatement } from './connection.ts'
import { readRows } from './read-rows.ts'
import { Turns } from './turns.ts'

/** Long enough for a batch on a busy server; the facts-writer repeats an insert that took longer. */
const REQUEST_TIMEOUT_MS = 30_000
/** For look-ups within a request, and for pages: if a server hangs, requests whose callers have left must not pile up. */
const LOOK_UP_TIMEOUT_MS = 3_000
const MAX_OPEN_CONNECTIONS = 8
/** What is no look-up takes turns, at most so many at once: two connections are always left for look-ups. Of one organisation or person half. */
const TURNS = { places: MAX_OPEN_CONNECTIONS - 2, placesOfOne: (MAX_OPEN_CONNECTIONS - 2) / 2 } as const
/**
 * Below every usual keep-alive of a server (3 s and more): a socket that the server has just closed ends in ECONNRESET.
 */
const IDLE_SOCKET_TTL_MS = 1_500

interface ClickHouseOptions {
  /** After this time a statement's outcome is unknown. */
  readonly requestTimeoutMs?: number
  /** The server itself then refuses every change of data; for connections that serve people. */
  readonly isReadOnly?: boolean
}

/**
 * `url` is `http(s)://user:password@host:port/database`, with the parameters of `clickhouse-url.ts`. Nothing is sent
 * before the first statement. Throws if the URL is wrong, without repeating it, or if a file it names cannot be read.
 */
export function openClickHouse(url: string, options: ClickHouseOptions = {}): FactsConnection {
  const requestTimeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS
  const parsed = parseClickHouseUrl(url)
  if (!parsed.ok) throw new Error(`the address of ClickHouse ${parsed.why}`)
  const { tls, layout } = parsed.value
  const client = createClient({
    url: parsed.value.url,
    ...(tls === null ? {} : { tls: readTls(tls) }),
    application: 'whence',
    // Above the calls' own bounds, so that those apply first.
    request_timeout: requestTimeoutMs + 1_000,
    max_open_connections: MAX_OPEN_CONNECTIONS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_TTL_MS },
    compression: { request: false, response: false },
    // 2, as each statement brings settings of its own. A server stops a read whose client has gone.
    clickhouse_settings: {
      ...(options.isReadOnly === true ? { readonly: '2', cancel_http_readonly_queries_on_client_close: 1 } : {}),
      log_comment: LOG_COMMENT,
    },
    // Its log lines repeat the engine's text, which repeats row contents.
    log: { level: ClickHouseLogLevel.OFF },
  })
  /** Aborts the requests in flight when the connection is closed. */
  const closing = new AbortController()
  const turns = new Turns(TURNS)
  const query: FactsConnection['query'] = (statement, parameters, options) => {
    const { turn, share, signal } = options
    const act = () => ask(statement, parameters, options)
    // Bounded by the time of a look-up, for which a place in a queue would count.
    if (turn === 'look-up' && share === undefined) return act()
    return turns.take({ turn, share, signal: leaving(signal) }, act)
  }
  const leaving = (caller: AbortSignal | undefined): AbortSignal =>
    caller === undefined ? closing.signal : AbortSignal.any([closing.signal, caller])
  const ask: FactsConnection['query'] = (statement, parameters, { turn, signal: caller }) => {
    const forMs = turn === 'report' ? requestTimeoutMs : Math.min(LOOK_UP_TIMEOUT_MS, requestTimeoutMs)
    const asked = { query: statement, query_params: { ...parameters } }
    return actWithin(forMs, leaving(caller), (signal) => selectFromServer(client, { ...asked, abort_signal: signal }))
  }
  return {
    kind: 'server',
    isExclusive: false,
    layout,
    command: async (statement) => {
      await client.command({ query: statement })
    },
    query,
    // A connection must not stay open for as long as somebody takes over the rows.
    each: query,
    insert: (insert) => actWithin(requestTimeoutMs, closing.signal, (signal) => stream(client, insert, signal)),
    close: () => {
      closing.abort()
      return client.close()
    },
  }
}

type TlsOptions = NonNullable<ClickHouseClientConfigOptions['tls']>

function readTls({ caFile, certFile, keyFile }: ClickHouseTls): TlsOptions {
  const authority = { ca_cert: readFileSync(caFile) }
  return certFile === null || keyFile === null
    ? authority
    : { ...authority, cert: readFileSync(certFile), key: readFileSync(keyFile) }
}

/** Rejects with `EngineSilent` after `forMs`, whatever error the client reports then. */
async function actWithin<T>(forMs: number, closing: AbortSignal, act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  // The client notices only what is aborted later.
  closing.throwIfAborted()
  const inTime = AbortSignal.timeout(forMs)
  try {
    return await act(AbortSignal.any([inTime, closing]))
  } catch (error) {
    throw inTime.aborted ? new EngineSilent(forMs) : error
  }
}

async function selectFromServer(client: ClickHouseClient, params: QueryParams): Promise<readonly unknown[]> {
  // Thousands of keys do not fit a URL.
  const result = await client.query({ ...params, use_multipart_params_auto: true, format: 'JSONEachRow' })
  return readRows(result)
}

async function stream(client: ClickHouseClient, insert: InsertStatement, signal: AbortSignal): Promise<void> {
  const head = `INSERT INTO ${insert.table} (${insert.columns.join(', ')})`
  const result = await client.exec({
    query: `${head} ${settingsClause(insert.settings)} FORMAT TabSeparated`,
    abort_signal: signal,
    values: Readable.from(insert.body, { objectMode: false }),
    // Without it a server may answer 200 and report a failure in the body.
    clickhouse_settings: { wait_end_of_query: 1 },
  })
  // Read to its end; otherwise the socket could not be reused.
  await text(result.stream)
}
