/**
 * Runs the command line as a separate process: what people see is the whole program, and its output is where they see
 * it.
 */

import { spawn, type ChildProcess } from 'node:child_process'

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  /** Everything on standard output so far. */
  readonly stdout: () => string
  readonly ended: Promise<Ran>
}

export const PROGRAM = new URL('../../../bin/whencectl.ts', import.meta.url).pathname

export function startWhencectl(words: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
  return startProgram(process.execPath, [PROGRAM, ...words], env)
}

export function whencectl(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return startWhencectl(words, env).ended
}

/** A line of shell, for what depends on pipes; `$WHENCE` is the program. */
export function shell(line: string): Promise<Ran> {
  const program = `'${process.execPath}' '${PROGRAM}'`
  return startProgram('bash', ['-c', `set -o pipefail; ${line.replaceAll('$WHENCE', program)}`], {}).ended
}

export function startProgram(file: string, words: readonly string[], env: Readonly<Record<string, string>>): Running {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WHENCE_')))
  const child = spawn(file, words, { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, stdout, stderr }))
  })
  return { child, stdout: () => stdout, ended }
}
