/** The socket in the data folder through which tools reach a running process; its file mode excludes other users. */

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { isList } from '../../domain/guards.ts'
import { memberOf, textOf } from '../../domain/strict-json.ts'
import type { LiveTools } from './live.ts'

/** Unix socket addresses hold about 104 bytes. */
const SOCKET_PATH_BYTES = 100
const MESSAGE_BYTES = 64 * 1024 * 1024
const METHODS = [
  'run',
  'read',
  'append',
  'markHours',
  'sendTest',
  'signInLink',
  'exportPerson',
  'erasePerson',
  'stageBackup',
  'planErasure',
  'erase',
  'planOrganizationErasure',
  'eraseOrganization',
] as const
type Method = (typeof METHODS)[number]

export interface ToolServer {
  readonly close: () => Promise<void>
}

/** The caller holds the data folder, so an existing socket is a dead process's. */
export async function serveTools(data: string, backend: Partial<LiveTools>): Promise<ToolServer> {
  const { socket, address } = placesIn(data)
  for (const path of [socket, address]) rmSync(path, { force: true })
  const isShort = Buffer.byteLength(socket) <= SOCKET_PATH_BYTES
  // A private folder elsewhere: in a shared one, another user could create the socket first.
  const path = isShort ? socket : join(mkdtempSync(join(tmpdir(), 'whence-')), 'tools.sock')
  const server = createServer((req, res) => void respondToTool(req, res, backend))
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(path, done)
  })
  chmodSync(path, 0o600)
  if (!isShort) writeFileSync(address, path, { mode: 0o600 })
  return {
    close: async () => {
      await stopTools(server)
      if (!isShort) for (const left of [address, dirname(path)]) rmSync(left, { recursive: true, force: true })
    },
  }
}

/** Null if no process answers in this data folder. */
export async function connectTools(data: string): Promise<LiveTools | null> {
  const path = addressIn(data)
  try {
    await askService(path, 'ping', [])
  } catch (error) {
    if (isAway(error)) return null
    throw error
  }
  const call = async (method: Method, args: readonly unknown[]): Promise<unknown> => {
    try {
      return await askService(path, method, args)
    } catch (error) {
      throw isAway(error) ? new Error('the service has stopped') : error
    }
  }
  // The other side runs the same code, so the answers have the ports' own types.
  const backend: Readonly<Record<Method, (...args: readonly unknown[]) => Promise<unknown>>> = {
    run: (...args) => call('run', args),
    read: (...args) => call('read', args),
    append: (...args) => call('append', args),
    markHours: (...args) => call('markHours', args),
    sendTest: (...args) => call('sendTest', args),
    signInLink: (...args) => call('signInLink', args),
    stageBackup: (...args) => call('stageBackup', args),
    planErasure: (...args) => call('planErasure', args),
    erase: (...args) => call('erase', args),
    planOrganizationErasure: (...args) => call('planOrganizationErasure', args),
    eraseOrganization: (...args) => call('eraseOrganization', args),
    exportPerson: (...args) => call('exportPerson', args),
    erasePerson: (...args) => call('erasePerson', args),
  }
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- each method is called by its own name
  return backend as unknown as LiveTools
}

function placesIn(data: string): { readonly socket: string; readonly address: string } {
  return { socket: join(resolve(data), 'tools.sock'), address: join(resolve(data), 'tools.address') }
}

function addressIn(data: string): string {
  const { socket, address } = placesIn(data)
  if (Buffer.byteLength(socket) <= SOCKET_PATH_BYTES) return socket
  try {
    return readFileSync(address, 'utf8')
  } catch {
    return socket.slice(0, SOCKET_PATH_BYTES)
  }
}

/** `EPIPE`: it stopped while the question was written. */
const AWAY = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTDIR']

function isAway(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return AWAY.some((each) => each === code)
}

async function respondToTool(req: IncomingMessage, res: ServerResponse, backend: Partial<LiveTools>): Promise<void> {
  const [status, body] = await callTool(req, backend).then(
    (value): [number, object] => [200, { value: value ?? null }],
    (error: unknown): [number, object] => [500, { error: error instanceof Error ? error.message : String(error) }],
  )
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

async function callTool(req: IncomingMessage, backend: Partial<LiveTools>): Promise<unknown> {
  if (req.url === '/ping') return true
  const method = METHODS.find((name) => req.url === `/${name}`)
  const call = method === undefined ? undefined : backend[method]
  if (call === undefined || req.method !== 'POST') throw new Error('there is no such tool call')
  const args: unknown = JSON.parse(await readAll(req))
  if (!isList(args)) throw new Error('a tool call has a list of arguments')
  // Checked by name above; the arguments come from our own tools under the same user.
  return Reflect.apply(call, backend, [...args])
}

function askService(path: string, method: Method | 'ping', args: readonly unknown[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const req = request({ socketPath: path, method: 'POST', path: `/${method}` }, (res) => {
      readAll(res).then((text) => {
        const answer: unknown = JSON.parse(text)
        const error = memberOf(answer, 'error')
        if (error === undefined) resolve(memberOf(answer, 'value'))
        else reject(new Error(textOf(error)))
      }, reject)
    })
    req.on('error', reject)
    req.end(JSON.stringify(args))
  })
}

async function readAll(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const arriving: AsyncIterable<Buffer> = stream
  for await (const chunk of arriving) {
    size += chunk.length
    if (size > MESSAGE_BYTES) throw new Error('the message is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function stopTools(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done())
    server.closeAllConnections()
  })
}
