/** HTTP as bytes on a socket: sends what no client library would send and reads whatever comes back. */

import { connect, type Socket } from 'node:net'

export type Piece = string | Buffer | { readonly pauseMs: number } | { readonly isEnd: true }

/** The client says no more, and still listens. */
export const FIN: Piece = { isEnd: true }

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface RawExchange {
  readonly answers: readonly RawAnswer[]
  /** The service closed the connection. */
  readonly isClosed: boolean
  /** What came after the last whole answer. */
  readonly rest: string
}

/** How long an open connection must be silent, after everything was sent, to count as quiet. */
const QUIET_MS = 3_000

/** Sends the pieces, text as Latin-1, and collects the answer until the service closes the connection or is quiet. */
export function exchangeRaw(port: number, pieces: readonly Piece[]): Promise<RawExchange> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let isSent = false
    let timer: NodeJS.Timeout | undefined
    const finish = (isClosed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...parseAnswers(Buffer.concat(chunks).toString('latin1')), isClosed })
    }
    const waitQuietly = (): void => {
      clearTimeout(timer)
      if (isSent) timer = setTimeout(() => finish(false), QUIET_MS)
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      waitQuietly()
    })
    socket.on('end', () => finish(true))
    socket.on('error', () => finish(true))
    void sendAll(socket, pieces).then(() => {
      isSent = true
      waitQuietly()
    })
  })
}

async function sendAll(socket: Socket, pieces: readonly Piece[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    if (typeof piece === 'string' || Buffer.isBuffer(piece)) await writeAll(socket, piece)
    else if ('isEnd' in piece) socket.end()
    else await new Promise((resolve) => setTimeout(resolve, piece.pauseMs))
  }
}

function writeAll(socket: Socket, piece: string | Buffer): Promise<unknown> {
  const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece
  return new Promise((resolve) => socket.write(bytes, resolve))
}

function parseAnswers(text: string): Pick<RawExchange, 'answers' | 'rest'> {
  const answers: RawAnswer[] = []
  let rest = text
  for (let answer = takeAnswer(rest); answer !== null; answer = takeAnswer(rest)) {
    answers.push(answer)
    rest = rest.slice(answer.size)
  }
  return { answers, rest }
}

/** The first complete answer in `text`; null if there is none. */
function takeAnswer(text: string): (RawAnswer & { readonly size: number }) | null {
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${statusLine} `)?.[1] ?? NaN)
  if (end < 0 || Number.isNaN(status)) return null
  const headers = new Map(lines.map(splitLine))
  const hasBody = status >= 200 && status !== 204 && status !== 304
  const size = end + 4 + (hasBody ? Number(headers.get('content-length') ?? 0) : 0)
  return text.length < size ? null : { status, headers, body: text.slice(end + 4, size), size }
}

function splitLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
