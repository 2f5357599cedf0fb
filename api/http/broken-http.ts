/** Handles sockets outside of requests: answers messages that break HTTP's rules, and closes so that answers arrive. */

import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import { watchStandstill } from './standstill.ts'

/** How long a client may take to read the last answer and to disconnect. */
const LINGER_MS = 500
/** How much may still arrive meanwhile; it is discarded unread. */
const LINGER_BYTES = 1_048_576
/** After the process stood still, how much time it has to read the rest of a request that looks late. */
const GRACE_MS = 1_000

/** How a connection's last request was refused by its parser, if that had begun to be read. */
const ANSWERED = new WeakMap<Duplex, ErrorCode>()

/** The refusal that the parser answered to what came on this connection last; undefined if its client left. */
export function parserRefusal(socket: Duplex): ErrorCode | undefined {
  return ANSWERED.get(socket)
}

/** `onBroken` is called for each message that never became a request. */
export function guardSockets(server: Server, onBroken: (status: number, code: ErrorCode) => void): void {
  const answer = (socket: Duplex, code: ErrorCode): void => {
    answerBrokenHttp(socket, code)
    onBroken(ERRORS[code].status, code)
  }
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => endGently(socket)
  })
  const standstill = watchStandstill()
  server.on('close', () => void standstill.close())
  const end = (socket: BusySocket, code: string | undefined): void => {
    // A client that left in the middle reads no refusal.
    if (code !== LEFT && code !== 'ECONNRESET') ANSWERED.set(socket, brokenHttpCode(code))
    if (!socket.writable || code === 'ECONNRESET') socket.destroy()
    else if (!finishCurrent(socket)) answer(socket, brokenHttpCode(code))
  }
  server.on('clientError', ({ code }: Error & { code?: string }, duplex) => {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- clients connect over sockets alone
    const socket = duplex as BusySocket
    if (code === LATE && standstill.wasWithin(GRACE_MS)) endUnlessRead(socket, () => end(socket, code))
    else end(socket, code)
  })
  server.on('checkExpectation', ({ socket }) => answer(socket, 'invalid_request'))
  server.on('connect', (_req, socket) => answer(socket, 'invalid_request'))
}

const LATE = 'ERR_HTTP_REQUEST_TIMEOUT'
const LEFT = 'HPE_INVALID_EOF_STATE'

/** Node calls a request late only once, so what is still not complete after the grace is ended here. */
function endUnlessRead(socket: BusySocket, end: () => void): void {
  const { bytesRead } = socket
  const look = (): void => {
    const isPending = socket._httpMessage?.req.complete === false
    if (!socket.destroyed && (isPending || socket.bytesRead === bytesRead)) end()
  }
  const timer = setTimeout(look, GRACE_MS).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** Node's own handler reads this too; there is no public way. */
type BusySocket = Socket & { readonly _httpMessage?: ServerResponse | null }

/**
 * While a complete request is being answered, a broken message can only be a later one, and its refusal must not be
 * taken for that answer. So the answer is sent and ends the connection. Returns true in that case.
 */
function finishCurrent(socket: BusySocket): boolean {
  const current = socket._httpMessage
  if (current === undefined || current === null || !current.req.complete) return false
  current.shouldKeepAlive = false
  if (current.headersSent) socket.destroySoon()
  return true
}

/**
 * Closes after the answer has arrived: destroying a socket with unread bytes resets the connection, and the reset may
 * overtake the answer (RFC 9112, section 9.6). Nothing that still arrives reaches the parser.
 */
function endGently(socket: Socket): void {
  if (socket.destroyed || socket.writableEnded) return
  const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  let bytes = 0
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > LINGER_BYTES) socket.destroy()
  })
  socket.on('close', () => clearTimeout(linger))
  if (socket.readableEnded) socket.on('finish', () => socket.destroy())
  else socket.on('end', () => socket.destroy())
  socket.end()
  socket.resume()
}

/** A message that the parser refuses never becomes a request; it still gets an error in the contract's form. */
function answerBrokenHttp(socket: Duplex, code: ErrorCode): void {
  const body = JSON.stringify({ error: code })
  const head = [
    `HTTP/1.1 ${ERRORS[code].status} Refused`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  const linger = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.on('error', () => socket.destroy()).on('close', () => clearTimeout(linger))
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

function brokenHttpCode(code: string | undefined): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large'
  if (code === LATE) return 'request_timeout'
  return 'invalid_request'
}
