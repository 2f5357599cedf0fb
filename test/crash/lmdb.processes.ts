/** Starts the crash tests' appender as a process, under strace on request, and reads its output. */

import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface AppenderOptions {
  readonly folder: string
  readonly firstId: number
  readonly inFlight: number
  readonly count?: number
  /** An `inject=` expression of strace, for example `fdatasync:error=EIO:when=6+`. */
  readonly inject?: string
  readonly environment?: Readonly<Record<string, string>>
}

export interface Appender {
  readonly child: ChildProcess
  /** Everything printed so far, line by line; complete once `ended` resolves. */
  readonly lines: readonly string[]
  readonly ended: Promise<{ readonly status: number | null; readonly stderr: string }>
  /** Resolves when that many lines begin with `prefix`, or when the process has ended. */
  printed(prefix: string, count: number): Promise<void>
}

export function startAppender(options: AppenderOptions): Appender {
  const { folder, firstId, inFlight, count = Number.POSITIVE_INFINITY, inject } = options
  const program = [process.execPath, join(import.meta.dirname, 'lmdb.appender.ts'), folder, firstId, inFlight, count]
  const command = inject === undefined ? program : [...tracer(inject), ...program]
  const [file = '', ...args] = command.map(String)
  // strace counts calls per thread: with one worker thread the count is that of the process.
  const env = { ...process.env, ...(inject === undefined ? {} : { UV_THREADPOOL_SIZE: '1' }), ...options.environment }
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const lines: string[] = []
  let onLine: () => void = () => undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    onLine()
  })
  let stderr = ''
  child.stderr.on('data', (data) => (stderr += String(data)))
  const ended = new Promise<{ status: number | null; stderr: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, stderr }))
  })
  return {
    child,
    lines,
    ended,
    async printed(prefix, wanted) {
      const enough = new Promise<void>((resolve) => {
        onLine = () => {
          if (lines.filter((line) => line.startsWith(prefix)).length >= wanted) resolve()
        }
        onLine()
      })
      await Promise.race([enough, ended])
    },
  }
}

/** True if strace can watch a process here. Its absence is a failure in CI and a skip elsewhere. */
export function canTrace(): boolean {
  const isPossible = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0
  if (!isPossible && process.env['CI'] === 'true') throw new Error('strace does not work here')
  return isPossible
}

function tracer(inject: string): string[] {
  const [call = ''] = inject.split(':')
  return ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${inject}`]
}

/** The IDs of lines such as `ack 17 3`. */
export function idsOf(lines: readonly string[], prefix: string): number[] {
  return lines.filter((line) => line.startsWith(`${prefix} `)).map((line) => Number(line.split(' ')[1]))
}
