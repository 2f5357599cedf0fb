/**
 * A test fixture, and no server: serves ClickHouse's HTTP interface over the real engine, from the one process that has
 * its folder open in chDB. `npm run -s clickhouse-http -- --listen HOST:PORT --data DIR` prints its address once it listens.
 *
 * It exists because chDB lets one process open a folder while the distributed service has many, and because the real
 * client is to be tested over real sockets. What the engine says is passed on byte for byte: rows in any format, errors
 * with their numbers. Not here: replication, sessions, roles, users but one, progress while a statement runs, answers
 * before a statement has ended, asynchronous inserts, statements side by side.
 */

import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

import { authenticate } from './authentication.ts'
import type { Account } from './authentication.ts'
import { startEngine } from './engine.ts'
import type { Answer, Engine } from './engine.ts'
import { RequestRefused, refusalOf } from './refusals.ts'
import { header, readStatement } from './request.ts'
import type { Memory, Statement } from './request.ts'

/** What all bodies that are read or wait for their turn may take. */
const MEMORY_BYTES = 256 * 1024 * 1024
/** As long as ClickHouse servers keep an idle connection by their usual settings. */
const KEEP_ALIVE_MS = 3_000
/** The longest address of a ClickHouse server by its usual settings. */
const MAX_HEADER_BYTES = 1024 * 1024

const { values: options } = parseArgs({
  options: {
    listen: { type: 'string', default: '127.0.0.1:8123' },
    data: { type: 'string' },
    user: { type: 'string', default: 'default' },
    password: { type: 'string', default: '' },
    database: { type: 'string', default: 'default' },
    certificate: { type: 'string' },
    key: { type: 'string' },
  },
})
if (options.data === undefined) throw new Error('--data DIR is missing')
detachStandardInput()
const account: Account = { user: options.user, password: options.password }
const engine = await startEngine(options.data, options.database)
let heldBytes = 0

const settings = { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES }
const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
  answer(engine, request, response).catch(() => response.destroy())
}
const isTls = options.certificate !== undefined && options.key !== undefined
const server = isTls ? createTlsServer({ ...settings, ...readTls() }, onRequest) : createServer(settings, onRequest)
const { hostname, port } = new URL(`http://${options.listen}`)
server.listen(Number(port), hostname, () => {
  console.log(`http${isTls ? 's' : ''}://${hostname}:${(server.address() as AddressInfo).port}`)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())

/** Takes no new connection, ends what has begun, and gives the folder back. */
async function stop(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  await closed
  await engine.close()
}

function readTls(): { readonly cert: Buffer; readonly key: Buffer } {
  return { cert: readFileSync(options.certificate ?? ''), key: readFileSync(options.key ?? '') }
}

/** The engine looks for rows on the standard input; whatever is opened next gets its number. */
function detachStandardInput(): void {
  closeSync(0)
  openSync('/dev/null', 'r')
}

async function answer(engine: Engine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fixture')
  if (isAboutTheServer(request, url)) {
    response.setHeader('content-type', 'text/html; charset=UTF-8').end('Ok.\n')
    return
  }
  const hold = holdMemory()
  response.setHeader('x-clickhouse-query-id', url.searchParams.get('query_id') ?? randomUUID())
  response.setHeader('x-clickhouse-timezone', 'Etc/UTC')
  try {
    if (url.pathname !== '/') throw new RequestRefused(391, 'NO_SUCH_PATH', `There is no ${url.pathname}`)
    authenticate(request, url, account)
    const statement = await readStatement(request, url, hold)
    sendAnswer(response, statement, await engine.run(statement), wantsGzip(request, url))
  } catch (error) {
    sendError(response, error)
  } finally {
    hold.release()
  }
}

function isAboutTheServer(request: IncomingMessage, url: URL): boolean {
  if (url.pathname === '/ping' || url.pathname === '/replicas_status') return true
  return request.method === 'GET' && url.pathname === '/' && !url.searchParams.has('query')
}

function wantsGzip(request: IncomingMessage, url: URL): boolean {
  return (
    url.searchParams.get('enable_http_compression') === '1' &&
    header(request, 'accept-encoding')?.includes('gzip') === true
  )
}

function sendAnswer(response: ServerResponse, statement: Statement, answer: Answer, isPacked: boolean): void {
  const body = isPacked ? gzipSync(answer.bytes) : answer.bytes
  const summary = {
    read_rows: String(answer.readRows),
    read_bytes: String(answer.readBytes),
    written_rows: String(answer.writtenRows),
    written_bytes: '0',
    total_rows_to_read: '0',
    result_rows: String(answer.readRows),
    result_bytes: String(answer.bytes.length),
    elapsed_ns: String(Math.round(answer.elapsedS * 1e9)),
  }
  response.writeHead(200, {
    'content-type': contentType(statement.format),
    'content-length': body.length,
    ...(isPacked ? { 'content-encoding': 'gzip' } : {}),
    'x-clickhouse-format': statement.format,
    'x-clickhouse-summary': JSON.stringify(summary),
  })
  response.end(body)
}

function sendError(response: ServerResponse, error: unknown): void {
  const { code, status, text } = refusalOf(error, engine.version)
  response.writeHead(status, { 'content-type': 'text/plain; charset=UTF-8', 'x-clickhouse-exception-code': code })
  response.end(text)
}

function contentType(format: string): string {
  if (/^JSON.*EachRow/.test(format)) return 'application/x-ndjson; charset=UTF-8'
  if (format.startsWith('JSON')) return 'application/json; charset=UTF-8'
  if (format.startsWith('TabSeparated') || format.startsWith('TSV')) return 'text/tab-separated-values; charset=UTF-8'
  return format.startsWith('CSV') ? 'text/csv; charset=UTF-8' : 'application/octet-stream'
}

function holdMemory(): Memory & { release(): void } {
  let bytes = 0
  return {
    take(more) {
      bytes += more
      heldBytes += more
      return heldBytes <= MEMORY_BYTES
    },
    release: () => void (heldBytes -= bytes),
  }
}
