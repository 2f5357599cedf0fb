/**
 * Requests that arrive at a fixed rate, whatever happens to earlier ones: a slow answer delays no other request, and the time of each counts
 * from the moment it was due.
 */

import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

import { cpuSeconds } from './http-load.ts'

export interface DueRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: a GET. */
  readonly body?: string
}

export interface OpenLoop {
  readonly port: number
  readonly perSecond: number
  readonly seconds: number
  readonly next: (index: number) => DueRequest
  /** Called for each answer other than 2xx, instead of ending the measurement. */
  readonly onRefusal?: () => void
}

const SOCKETS = 64

/**
 * The times of all answers in milliseconds, in ascending order.
 * @throws unless every answer was 2xx, or others may be
 */
export async function openLoop({ port, perSecond, seconds, next, onRefusal }: OpenLoop): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  const startMs = performance.now()
  const asked: Promise<number>[] = []
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const dueMs = startMs + (index * 1_000) / perSecond
    const left = dueMs - performance.now()
    if (left > 0) await wait(left)
    const time = answered(agent, port, next(index), onRefusal).then((atMs) => atMs - dueMs)
    // Thrown below, where the caller can still end what it started.
    time.catch(() => undefined)
    asked.push(time)
  }
  const times = await Promise.all(asked)
  agent.destroy()
  return times.toSorted((a, b) => a - b)
}

function answered(
  agent: Agent,
  port: number,
  { path, headers, body }: DueRequest,
  onRefusal: OpenLoop['onRefusal'],
): Promise<number> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ agent, port, host: '127.0.0.1', path, method, headers }, (response) => {
      const { statusCode = 0 } = response
      if (statusCode >= 300 && onRefusal === undefined) reject(new Error(`${path} was answered ${statusCode}`))
      else if (statusCode >= 300) onRefusal?.()
      response.resume().on('end', () => resolve(performance.now()))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** What other processes may take of the core of a program during a part that counts, and how often a part may be repeated for it. */
const MOST_OF_OTHERS = 0.02
const MOST_TRIES = 20

/**
 * Does something until other processes leave the core to the program meanwhile: one of theirs that runs for 50 ms decides a p99.
 * @param pid of the program, alone on core 0
 * @throws if they never do
 */
export async function undisturbed<T>(pid: number | undefined, act: () => Promise<T>): Promise<T> {
  const shares: number[] = []
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const before = [performance.now() / 1_000, idleSeconds(), cpuSeconds(pid)] as const
    const result = await act()
    const tookS = performance.now() / 1_000 - before[0]
    const othersS = tookS - (idleSeconds() - before[1]) - (cpuSeconds(pid) - before[2])
    if (othersS <= tookS * MOST_OF_OTHERS) return result
    shares.push(othersS / tookS)
  }
  const least = (100 * Math.min(...shares)).toFixed(1)
  throw new Error(`other processes never took less than ${least} % of core 0`)
}

/** Of core 0; the kernel counts in hundredths of a second. */
function idleSeconds(): number {
  const fields = /^cpu0 (.+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? []
  return ((fields[3] ?? 0) + (fields[4] ?? 0)) / 100
}
