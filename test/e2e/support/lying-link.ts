/** TCP links to loopback ports that can break what comes back: frames that are none, and connections that end in the middle of one. */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

import type { Links } from '../../../fixtures/engines/toxiproxy.ts'

/** A frame of Kafka begins with its length in four bytes. */
const LIES = {
  'an empty frame': Buffer.alloc(4),
  'a frame of negative length': Buffer.from('fffffff0fffffff0', 'hex'),
  'a frame that says to be huge': Buffer.from('7fffffff00000000', 'hex'),
  'a reset within a frame': null,
  'an end within a frame': null,
} as const
type Lie = keyof typeof LIES
export const KAFKA_LIES = Object.keys(LIES) as readonly Lie[]

export interface LyingLinks extends Pick<Links, 'add' | 'stop'> {
  /** What is told from now on instead of every answer through this link; null for the truth. */
  readonly tell: (name: string, lie: Lie | null) => void
  /** Answers that were replaced since the last `tell`. */
  readonly told: () => number
}

export function lyingLinks(): LyingLinks {
  const lies = new Map<string, Lie | null>()
  const servers: Server[] = []
  const sockets = new Set<Socket>()
  let told = 0
  const pass = (name: string, client: Socket, piece: Buffer): void => {
    const lie = lies.get(name) ?? null
    if (lie === null) return void client.write(piece)
    told += 1
    const bytes = LIES[lie]
    if (bytes !== null) client.write(bytes)
    else
      client.write(piece.subarray(0, 6), () =>
        lie === 'an end within a frame' ? client.end() : client.resetAndDestroy(),
      )
  }
  return {
    add: async (name, target) => {
      const server = createServer((client) => {
        const upstream = connect(target, '127.0.0.1')
        upstream.on('data', (piece) => pass(name, client, piece))
        client.pipe(upstream)
        upstream.once('end', () => client.end())
        for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
          sockets.add(one)
          one
            .on('error', () => other.destroy())
            .once('close', () => {
              sockets.delete(one)
              other.destroy()
            })
        }
      })
      servers.push(server)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    },
    tell: (name, lie) => {
      lies.set(name, lie)
      told = 0
    },
    told: () => told,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      for (const server of servers) server.close()
    },
  }
}
