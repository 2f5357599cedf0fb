/**
 * A stand-in for a ClickHouse server: serves its HTTP protocol, as far as `@clickhouse/client` uses it, from chDB.
 * `node test/support/clickhouse-http.ts --listen HOST:PORT --data DIR`; it prints its address once it listens.
 *
 * It exists because no server binary can be had everywhere; several processes can then share one engine, and the real
 * HTTP client is what talks to it. Statements run one at a time.
 */

import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'

import { drainPending, Session } from 'chdb'

const { values: options } = parseArgs({
  options: { listen: { type: 'string', default: '127.0.0.1:0' }, data: { type: 'string' } },
})
if (options.data === undefined) throw new Error('--data is missing')

const MAX_BODY_BYTES = 256 * 1024 * 1024
const session = new Session(options.data)
let last: Promise<unknown> = Promise.resolve()

const server = createServer((request, response) => {
  const mine = last.then(() => answer(request, response))
  last = mine.catch(() => response.destroy())
})
const [host = '127.0.0.1', port = '0'] = options.listen.split(':')
server.listen(Number(port), host, () => {
  console.log(`http://${host}:${(server.address() as AddressInfo).port}`)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())

async function stop(): Promise<void> {
  server.close()
  server.closeAllConnections()
  await last
  session.close()
  await drainPending()
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fixture')
  const body = await readBody(request)
  if (url.pathname === '/ping') {
    response.end('Ok.\n')
    return
  }
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    for (const [name, value] of form) url.searchParams.append(name, typeof value === 'string' ? value : '')
    return reply(response, url.searchParams.get('query') ?? '', url)
  }
  // The statement is the body, or stands in the address and the body is the data of an insert.
  const query = url.searchParams.get('query')
  const statement = query === null ? body : body === '' ? query : `${query}\n${body}`
  await reply(response, statement, url)
}

async function reply(response: ServerResponse, statement: string, url: URL): Promise<void> {
  try {
    const result = await run(statement, parametersOf(url))
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(result)
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const code = /Code: (\d+)/.exec(text)?.[1] ?? '1002'
    response.writeHead(code === '60' ? 404 : 400, { 'x-clickhouse-exception-code': code }).end(text)
  }
}

async function run(statement: string, parameters: Record<string, Parameter>): Promise<Uint8Array> {
  const isBound = Object.keys(parameters).length > 0
  const result = isBound ? await session.queryBindAsync(statement, parameters) : await session.queryAsync(statement)
  return result.bytes()
}

type Parameter = string | string[]

/** Values come written as the engine reads them; its binding here wants them as they are and writes them so itself. */
function parametersOf(url: URL): Record<string, Parameter> {
  const parameters: Record<string, Parameter> = {}
  for (const [name, value] of url.searchParams) {
    if (!name.startsWith('param_')) continue
    const items = [...value.matchAll(/'((?:[^'\\]|\\.)*)'/gs)].map((match) => unescapeField(match[1] ?? ''))
    parameters[name.slice('param_'.length)] = value.startsWith('[') ? items : unescapeField(value)
  }
  return parameters
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '0': '\0', b: '\b', f: '\f' }

function unescapeField(value: string): string {
  return value.replace(/\\(.)/gs, (_whole, character: string) => ESCAPES[character] ?? character)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_BODY_BYTES) throw new Error('body too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}
