/** Starts `whence api` and `whence delivery` as processes of their own, so that tests can kill them one by one. */

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'

export interface Program {
  readonly pid: number
  /** Resolves when it works; rejects when it ends before that, with what it said. */
  readonly ready: Promise<void>
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** The latest of what it wrote on standard error. */
  readonly stderr: () => string
  /** All that it wrote on standard output, if it is heard. */
  readonly stdout: () => string
  /** Resolves when it has ended, with how. */
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<number | string>
}

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>
  /** Preloads and the like, before the program. */
  readonly nodeWords?: readonly string[]
  /** Its own process group: Ctrl-C in a terminal reaches only the process that started it. */
  readonly isDetached?: boolean
  /** Keeps what it writes on standard output: for tools, which say little. */
  readonly isHeard?: boolean
  /** Called with every line on its standard error. */
  readonly onLine?: (line: string) => void
}

const WHENCE = new URL('../../bin/whence.ts', import.meta.url).pathname
const KEPT_CHARS = 32_768
/** Each program says one of these once, when it takes work. */
const IS_READY = /"msg":"(collecting|working)"/

/** `words` as on the command line: `['delivery', '--role', 'ga4']`. Nothing of the test's own settings reaches it. */
export function startProgram(words: readonly string[], options: ProgramOptions): Program {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WHENCE_')))
  const child = spawn(process.execPath, [...(options.nodeWords ?? []), WHENCE, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.isDetached ?? false,
    env: { ...own, WHENCE_LOG_FORMAT: 'json', ...options.env },
  })
  let [stderr, stdout] = ['', '']
  if (options.isHeard === true) child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  else child.stdout.resume()
  const working = Promise.withResolvers<void>()
  createInterface({ input: child.stderr }).on('line', (line) => {
    stderr = `${stderr}${line}\n`.slice(-KEPT_CHARS)
    options.onLine?.(line)
    if (IS_READY.test(line)) working.resolve()
  })
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'unknown'))
  })
  const early = ended.then((how) => {
    throw new Error(`whence ${words.join(' ')} ended before it was ready (${how}): ${stderr}`)
  })
  const ready = Promise.race([working.promise, early])
  // A test that kills it while it starts does not wait for it to be ready.
  ready.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    stderr: () => stderr,
    stdout: () => stdout,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}

/** Resident memory of a process, in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024
}
