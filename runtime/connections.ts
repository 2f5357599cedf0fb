/**
 * Keeps clients from hogging an HTTP server's connections.
 *
 * Node.js bounds how long a request's head and the whole request may take to arrive. But it does not bound the
 * connections of one address, counts an empty line between requests as activity, and waits for ever for a client that
 * does not read. This code adds those bounds by checking all connections once a second. Time in which the process stood still
 * does not count: what arrived meanwhile is read only after the check.
 */

import type { Server } from 'node:http'
import type { Server as NetServer, Socket } from 'node:net'

import { memberOf } from '../domain/strict-json.ts'
import { every } from '../common/every.ts'

interface ConnectionLimits {
  /** Most connections in all; the server refuses more. */
  readonly max: number
  readonly peers: PeerShare
  readonly times: ConnectionTimes
}

/** Each peer's share of the connections. */
export interface PeerShare {
  /** Most connections of one peer; 0 for no limit. */
  readonly most: number
  /** The peer that a connection counts for; null for a peer without a limit. */
  readonly peerOf: (address: string | undefined) => string | null
}

export interface ConnectionTimes {
  /** How long a connection may be open before its first request has arrived. */
  readonly firstRequestMs: number
  /** How long it may be idle after an answer. */
  readonly idleMs: number
  /** The same while more than half of all connections are in use. */
  readonly idleInCrowdMs: number
  /** How long a client may leave an answer unread. */
  readonly writeMs: number
}

/** Why a connection was ended or refused. */
export type ConnectionEnd = 'too_many' | 'too_many_of_one_peer' | 'idle' | 'unread'

interface Connection {
  /** Since when there has been neither a request nor an answer. */
  quietSinceMs: number
  /** Bytes of answers at the last check: more of them show activity, which an empty line does not. */
  bytesWritten: number
  /** Since when data has been waiting for the client to read it; null if none is. */
  unreadSinceMs: number | null
}

const LOOK_EVERY_MS = 1_000

/** `onEnd` is called for each connection ended here. Checks until the server is closed. */
export function limitConnections(
  server: Server,
  { max, peers, times }: ConnectionLimits,
  onEnd: (why: ConnectionEnd) => void = () => undefined,
): void {
  const connections = new Map<Socket, Connection>()
  const byPeer = new Map<string, Set<Socket>>()
  server.maxConnections = max
  server.on('drop', () => onEnd('too_many'))
  server.on('connection', (socket: Socket) => {
    const peer = peers.most === 0 ? null : peers.peerOf(socket.remoteAddress)
    if (peer !== null && !makeRoom(byPeer.get(peer), peers.most)) {
      onEnd('too_many_of_one_peer')
      socket.destroy()
      return
    }
    connections.set(socket, { quietSinceMs: performance.now(), bytesWritten: 0, unreadSinceMs: null })
    if (peer !== null) byPeer.set(peer, (byPeer.get(peer) ?? new Set()).add(socket))
    socket.once('close', () => {
      connections.delete(socket)
      if (peer !== null) forgetSocket(byPeer, peer, socket)
    })
  })
  let lookedAtMs = performance.now()
  const look = (): void => {
    const stillMs = performance.now() - lookedAtMs - LOOK_EVERY_MS
    lookedAtMs = performance.now()
    const idleMs = connections.size * 2 > max ? times.idleInCrowdMs : times.idleMs
    for (const [socket, connection] of connections) {
      if (stillMs > 0) passOver(connection, stillMs)
      const why = reasonToEnd(socket, connection, { ...times, idleMs })
      if (why === null) continue
      onEnd(why)
      // Drops at once what the kernel holds unread.
      if (why === 'unread') socket.resetAndDestroy()
      else socket.destroy()
    }
  }
  const looking = every(LOOK_EVERY_MS, look, { firstMs: LOOK_EVERY_MS, onFailure: () => undefined })
  server.on('close', () => void looking.close())
}

/** Makes the connection look as if the time had not passed. */
function passOver(connection: Connection, stillMs: number): void {
  connection.quietSinceMs += stillMs
  if (connection.unreadSinceMs !== null) connection.unreadSinceMs += stillMs
}

/**
 * False if the peer is at its limit and every connection of it carries a request; otherwise closes its oldest idle one.
 */
function makeRoom(own: Set<Socket> | undefined, most: number): boolean {
  if (own === undefined || own.size < most) return true
  for (const socket of own) {
    if (isAnswering(socket)) continue
    own.delete(socket)
    socket.destroy()
    return true
  }
  return false
}

function forgetSocket(byPeer: Map<string, Set<Socket>>, peer: string, socket: Socket): void {
  const own = byPeer.get(peer)
  own?.delete(socket)
  if (own?.size === 0) byPeer.delete(peer)
}

/** Whether a request has arrived that is not answered yet. Node.js's own server reads this; there is no public way. */
function isAnswering(socket: Socket): boolean {
  return (memberOf(socket, '_httpMessage') ?? null) !== null
}

function reasonToEnd(
  socket: Socket,
  connection: Connection,
  { firstRequestMs, idleMs, writeMs }: ConnectionTimes,
): ConnectionEnd | null {
  const nowMs = performance.now()
  const { bytesWritten } = socket
  connection.unreadSinceMs = socket.writableLength === 0 ? null : (connection.unreadSinceMs ?? nowMs)
  if (isAnswering(socket) || bytesWritten !== connection.bytesWritten) connection.quietSinceMs = nowMs
  connection.bytesWritten = bytesWritten
  if (connection.unreadSinceMs !== null && nowMs - connection.unreadSinceMs > writeMs) return 'unread'
  const patienceMs = bytesWritten > 0 ? idleMs : firstRequestMs
  return nowMs - connection.quietSinceMs > patienceMs ? 'idle' : null
}

/** The port of a server that listens on one. */
export function portOf(server: NetServer): number {
  const address = server.address()
  if (typeof address === 'object' && address !== null) return address.port
  throw new Error('the server listens on no port')
}
