/** A gate in front of a server: counts who comes through, and can be shut as if the server were unreachable or silent. */

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface Gate {
  readonly url: string
  /** Connections that came since the gate was made. */
  readonly connections: () => number
  /** Lets connections through to this port of this machine. */
  readonly open: (port: number) => Promise<void>
  /** `refusing`: no process listens. `silent`: connections are accepted and never answered. */
  readonly shut: (how: 'refusing' | 'silent') => Promise<void>
  readonly close: () => Promise<void>
}

export async function makeGate(): Promise<Gate> {
  const sockets = new Set<Socket>()
  let count = 0
  let target: number | null = null
  const server = createServer((socket) => {
    count += 1
    track(socket, sockets)
    if (target === null) return
    const onward = track(connect(target, '127.0.0.1'), sockets)
    socket.pipe(onward).pipe(socket)
    socket.on('close', () => onward.destroy())
    onward.on('close', () => socket.destroy())
  })
  const port = await listen(server, 0)
  const stopListening = async (): Promise<void> => {
    if (!server.listening) return
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const listenAgain = async (): Promise<void> => {
    if (!server.listening) await listen(server, port)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () => count,
    open: async (targetPort) => {
      target = targetPort
      await listenAgain()
    },
    shut: async (how) => {
      target = null
      await stopListening()
      if (how === 'silent') await listenAgain()
    },
    close: stopListening,
  }
}

function track(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket)
  socket.on('close', () => sockets.delete(socket))
  // Either side may disconnect at any time; the close that follows notifies the other one.
  socket.on('error', () => undefined)
  return socket
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
