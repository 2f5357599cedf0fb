/** Clients that break HTTP's rules or their own connection, and the ports at which a process listens. */

import { readdir, readFile, readlink } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import { send } from '../../../fixtures/service/requests.ts'

type Attack = (port: number) => Promise<void>

const LINE = '\r\n'
const HALF_A_REQUEST = `POST /v1/events HTTP/1.1${LINE}Host: a${LINE}Content-Length: 100${LINE}${LINE}{"half`
const WHOLE_REQUEST = `GET /metrics HTTP/1.1${LINE}Host: a${LINE}${LINE}`

/** What answers afterwards: one of these at each port of our processes. */
const PATHS = ['health', 'live', ''] as const

/** Resolves with what a server at the port answers afterwards to sound requests, one after the other. */
export async function answersAfterAttacks(port: number): Promise<readonly number[]> {
  await Promise.all(Object.values(ATTACKS).map((attack) => attack(port)))
  return Promise.all(PATHS.map(async (path) => (await send(`http://127.0.0.1:${port}/${path}`)).status))
}

/** Each resolves when its connection is over, however it ended. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  'bytes that are no HTTP': (port) => sending(port, `\0\x01\x02 ${LINE}${LINE}`),
  'a version that does not exist': (port) => sending(port, `GET / HTTP/9.9${LINE}${LINE}`),
  'two lengths': (port) =>
    sending(port, `POST / HTTP/1.1${LINE}Content-Length: 1${LINE}Content-Length: 2${LINE}${LINE}`),
  'a head without an end': (port) => sending(port, `GET / HTTP/1.1${LINE}X: ${'a'.repeat(200_000)}`),
  'a broken request after a sound one': (port) => sending(port, `${WHOLE_REQUEST}\0${LINE}${LINE}`),
  'a tunnel': (port) => sending(port, `CONNECT a:1 HTTP/1.1${LINE}Host: a${LINE}${LINE}\0`),
  'another protocol': (port) =>
    sending(port, `GET / HTTP/1.1${LINE}Host: a${LINE}Connection: Upgrade${LINE}Upgrade: websocket${LINE}${LINE}\0`),
  'half a request that ends': (port) => sending(port, HALF_A_REQUEST, (socket) => socket.end()),
  'half a request that is reset': (port) => sending(port, HALF_A_REQUEST, (socket) => socket.resetAndDestroy()),
  'a reset without a request': (port) => sending(port, '', (socket) => socket.resetAndDestroy()),
  'a reset instead of reading the answer': (port) =>
    sending(port, WHOLE_REQUEST.repeat(20), (socket) => socket.resetAndDestroy()),
  'TLS at a plain port': (port) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    return over(socket)
  },
}

/** Longer than a server lets a broken connection linger. */
const GIVEN_UP_MS = 2_000

function sending(port: number, text: string, then: (socket: Socket) => void = () => undefined): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.from(text, 'latin1'), () => then(socket)))
  return over(socket)
}

function over(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.setTimeout(GIVEN_UP_MS, () => socket.destroy())
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.resume()
  })
}

const IS_LISTENING = '0A'

/** All TCP ports at which a process of this machine listens over IPv4, as Linux tells. */
export async function listeningPorts(pid: number): Promise<readonly number[]> {
  const handles = await readdir(`/proc/${pid}/fd`)
  const links = await Promise.all(handles.map((handle) => readlink(`/proc/${pid}/fd/${handle}`).catch(() => '')))
  const rows = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').slice(1)
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/)
    if (state !== IS_LISTENING || !links.includes(`socket:[${inode}]`)) return []
    return [Number.parseInt(local.split(':')[1] ?? '', 16)]
  })
}
