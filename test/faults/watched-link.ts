/** A TCP link to a loopback port that says when an answer is on its way. */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

export interface WatchedLink {
  readonly port: number
  /** Called at each piece of an answer before it is passed on, with its number within the connection from 1. */
  onPiece: (number: number) => void
  readonly close: () => Promise<void>
}

export async function watchedLink(target: number): Promise<WatchedLink> {
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    let pieces = 0
    upstream.on('data', (piece) => {
      link.onPiece((pieces += 1))
      client.write(piece)
    })
    client.pipe(upstream)
    upstream.once('end', () => client.end())
    // A client that is killed leaves the other side open, and the other way round.
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const])
      one.on('error', () => other.destroy()).once('close', () => other.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const link: WatchedLink = {
    port: (server.address() as AddressInfo).port,
    onPiece: () => undefined,
    close: async () => void (await new Promise((resolve) => server.close(resolve))),
  }
  return link
}
