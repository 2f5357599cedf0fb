/** Finds ports of the loopback address that a program started a moment later can have. */

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'
/**
 * Below those that Linux gives to outgoing connections (net.ipv4.ip_local_port_range begins at 32768): a port that the
 * system chose is soon reused, and the program that it was meant for finds it taken.
 */
const [FIRST, END] = [20_000, 32_000]
const MOST_TRIES = 200
const given = new Set<number>()

/** None is given twice by this process. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = randomInt(FIRST, END)
    if (given.has(port)) continue
    given.add(port)
    if (await isFree(port)) return port
  }
  throw new Error(`no port is free between ${FIRST} and ${END}`)
}

export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => freePort()))
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, HOST)
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
