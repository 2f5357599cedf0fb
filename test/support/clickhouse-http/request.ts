/** Reads a request of ClickHouse's HTTP interface: the statement, its rows, settings, parameters and database. */

import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'

import { formatOf, splitInsert } from './insert-data.ts'
import { RequestRefused } from './refusals.ts'

export interface Statement {
  /** Without its rows and their format, if it is an insert that carries rows. */
  readonly text: string
  readonly rows: { readonly format: string; readonly bytes: Buffer } | null
  /** The format of the answer. */
  readonly format: string
  readonly database: string | null
  readonly settings: ReadonlyMap<string, string>
  /** Values of `{name:Type}` as `param_name`, escaped as a field of TabSeparated. */
  readonly parameters: ReadonlyMap<string, string>
  readonly isReadOnly: boolean
}

/** Of a body, as sent and unpacked; the product's largest insert is a quarter of it. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Of the interface itself, and no settings of the engine. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'wait_end_of_query',
  'buffer_size',
  'compress',
  'decompress',
  'role',
])
/** Refused if requested, rather than ignored. */
const NOT_HERE: readonly string[] = ['session_id', 'compress', 'decompress', 'role']
const NAME = /^\w+$/

/** What all requests together may hold; false if it is used up. */
export interface Memory {
  take(bytes: number): boolean
}

/** Rejects with `RequestRefused`, or with the socket's error if the body broke off. */
export async function readStatement(request: IncomingMessage, url: URL, memory: Memory): Promise<Statement> {
  refuseWhatIsNotHere(url)
  const body = await takeForm(request, url, unpack(request, await readBody(request, memory)))
  const query = url.searchParams.get('query') ?? ''
  const whole =
    query === '' ? body : body.length === 0 ? Buffer.from(query) : Buffer.concat([Buffer.from(`${query}\n`), body])
  const insert = splitInsert(whole)
  const text = insert?.head ?? whole.toString()
  return {
    text,
    rows: insert === null ? null : { format: insert.format, bytes: insert.rows },
    format:
      formatOf(text) ??
      url.searchParams.get('default_format') ??
      header(request, 'x-clickhouse-format') ??
      'TabSeparated',
    database: url.searchParams.get('database') ?? header(request, 'x-clickhouse-database'),
    ...settingsAndParameters(url),
    isReadOnly: request.method === 'GET',
  }
}

export function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' ? value : null
}

function refuseWhatIsNotHere(url: URL): void {
  const asked = NOT_HERE.filter((name) => !['', '0', null].includes(url.searchParams.get(name)))
  if (asked.length > 0)
    throw new RequestRefused(48, 'NOT_IMPLEMENTED', `This fixture does not know ${asked.join(', ')}`)
}

function settingsAndParameters(url: URL): Pick<Statement, 'settings' | 'parameters'> {
  const settings = new Map<string, string>()
  const parameters = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (!NAME.test(name)) throw new RequestRefused(115, 'UNKNOWN_SETTING', 'A setting has a name that is none')
    if (name.startsWith('param_')) parameters.set(name, value)
    else if (!OWN_PARAMETERS.has(name)) settings.set(name, value)
  }
  return { settings, parameters }
}

/** Fields of a form count as if they stood in the address, which cannot hold thousands of keys. Returns what is left. */
async function takeForm(request: IncomingMessage, url: URL, body: Buffer): Promise<Buffer> {
  const type = header(request, 'content-type') ?? ''
  if (!type.startsWith('multipart/form-data')) return body
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
  for (const [name, value] of form) {
    if (typeof value !== 'string')
      throw new RequestRefused(48, 'NOT_IMPLEMENTED', 'This fixture takes no external tables')
    url.searchParams.append(name, value)
  }
  return Buffer.alloc(0)
}

/** Reads to the end what it does not keep, too: clients hear a refusal only once they have sent everything. */
async function readBody(request: IncomingMessage, memory: Memory): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  let refusal: RequestRefused | null = null
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_BODY_BYTES) refusal ??= new RequestRefused(307, 'TOO_MANY_BYTES', 'The body is too large')
    if (refusal === null && !memory.take((chunk as Buffer).length)) {
      refusal = new RequestRefused(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many bodies wait for their turn')
    }
    if (refusal === null) chunks.push(chunk as Buffer)
    else chunks.length = 0
  }
  if (refusal !== null) throw refusal
  return Buffer.concat(chunks)
}

function unpack(request: IncomingMessage, body: Buffer): Buffer {
  const encoding = header(request, 'content-encoding') ?? 'identity'
  if (encoding === 'identity') return body
  if (encoding !== 'gzip') throw new RequestRefused(48, 'NOT_IMPLEMENTED', 'This fixture reads gzip and nothing else')
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BODY_BYTES })
  } catch {
    throw new RequestRefused(354, 'ZLIB_INFLATE_FAILED', 'The body is no gzip, or too large')
  }
}
