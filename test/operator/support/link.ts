/** A TCP link to a server that a test can cut, let fall silent, and mend. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Link {
  readonly port: number
  /** Breaks every connection and refuses new ones. */
  cut(): void
  /** Existing connections stay open and carry nothing any more, as when a machine on the way has died. */
  silence(): void
  /** New connections work again. */
  mend(): void
  close(): Promise<void>
}

export async function openLink(targetPort: number): Promise<Link> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = connect(targetPort, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    for (const socket of pair) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        near.destroy()
        far.destroy()
        pairs.delete(pair)
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    isCut = true
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
  }
  return {
    port: (server.address() as { port: number }).port,
    cut,
    silence() {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
        near.pause()
        far.pause()
      }
    },
    mend() {
      isCut = false
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
