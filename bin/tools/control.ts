/** The socket in the data folder through which tools ask a running process; its file mode keeps other users out. */

import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ToolBackend } from './backend.ts'

/** Unix socket addresses hold about 104 bytes; longer folders get a short name elsewhere. */
const SOCKET_PATH_BYTES = 100
const REQUEST_BYTES = 16 * 1024 * 1024
const METHODS = ['run', 'read', 'append'] as const
type Method = (typeof METHODS)[number]

export interface ToolServer {
  readonly close: () => Promise<void>
}

export function socketPath(data: string): string {
  const path = join(resolve(data), 'tools.sock')
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES) return path
  return join(tmpdir(), `whence-${createHash('sha256').update(path).digest('hex').slice(0, 24)}.sock`)
}

/** The caller holds the data folder, so a socket that lies there already is a dead process's. */
export async function serveTools(data: string, backend: ToolBackend): Promise<ToolServer> {
  const path = socketPath(data)
  rmSync(path, { force: true })
  const server = createServer((req, res) => {
    answer(req, backend).then(
      (value) => res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ value: value ?? null })),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        res.writeHead(500, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: message }))
      },
    )
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(path, done)
  })
  chmodSync(path, 0o600)
  return {
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** Null where no process answers in this data folder. */
export async function connectTools(data: string): Promise<ToolBackend | null> {
  const path = socketPath(data)
  const call = (method: Method, args: readonly unknown[]) => ask(path, method, args)
  try {
    await call('run', ['counts', {}])
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null
    throw error
  }
  // The other side runs the very same code, so the answers have the ports' own types.
  return {
    run: (...args) => call('run', args) as ReturnType<ToolBackend['run']>,
    read: (...args) => call('read', args) as ReturnType<ToolBackend['read']>,
    append: (...args) => call('append', args) as ReturnType<ToolBackend['append']>,
  } as ToolBackend
}

async function answer(req: IncomingMessage, backend: ToolBackend): Promise<unknown> {
  const method = METHODS.find((name) => req.url === `/${name}`)
  if (method === undefined || req.method !== 'POST') throw new Error('there is no such tool call')
  const args = JSON.parse(await readAll(req)) as never[]
  // Checked by name above; the arguments come from our own tools under the same user.
  return (backend[method] as (...all: never[]) => Promise<unknown>)(...args)
}

function ask(path: string, method: Method, args: readonly unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const req = request({ socketPath: path, method: 'POST', path: `/${method}` }, (res) => {
      readAll(res).then((text) => {
        const { value, error } = JSON.parse(text) as { value?: unknown; error?: string }
        if (error === undefined) resolve(value)
        else reject(new Error(error))
      }, reject)
    })
    req.on('error', reject)
    req.end(JSON.stringify(args))
  })
}

async function readAll(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > REQUEST_BYTES) throw new Error('the message is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
