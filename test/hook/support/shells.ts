/** The shells that the hook promises to run in, and one way to run a script in each of them. */

import { spawn } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { renderHookBody, renderHookScript, type HookScriptValues } from '../../../domain/collection/hook-script.ts'

export interface Shell {
  readonly name: string
  readonly argv: readonly [string, ...string[]]
}

export const SHELLS: readonly Shell[] = [
  { name: 'dash', argv: ['dash'] },
  { name: 'bash', argv: ['bash'] },
  { name: 'bash --posix', argv: ['bash', '--posix'] },
  { name: 'busybox sh', argv: ['busybox', 'sh'] },
  { name: 'ksh93', argv: ['ksh'] },
  { name: 'mksh', argv: ['mksh'] },
  { name: 'zsh', argv: ['zsh'] },
  { name: 'zsh as sh', argv: ['zsh', '--emulate', 'sh'] },
]

/** Other modes of two shells of the list. They meet every third situation only: a shell's mode matters less than a shell. */
export const VARIANTS: readonly string[] = ['bash --posix', 'zsh as sh']

export const DASH: Shell = { name: 'dash', argv: ['dash'] }

export const HOOK_PATH = new URL('../../../hook/report.sh', import.meta.url).pathname
export const HOOK_SOURCE = readFileSync(HOOK_PATH, 'utf8')
export const WEBSITE = 'acme-dev'

/** What the hook needs at most. A folder that holds only these shows that it calls nothing else. */
export const TOOLS = (
  'awk cat curl date dd df cksum env find grep id ls mkdir mktemp od ps readlink rm sh sleep sort tr uname xargs ' +
  'busybox dash bash ksh mksh zsh'
).split(' ')

export type ScriptValues = Partial<HookScriptValues> & { readonly baseUrl: string }

/** A script as the service would serve it. */
export function servedScript({ brand = 'whence', ...values }: ScriptValues): string {
  return renderHookScript(renderHookBody(HOOK_SOURCE, brand), {
    website: WEBSITE,
    path: 'cli',
    origins: ['https://acme.dev', 'http://localhost:8901'],
    scan: 'Silent',
    brand,
    ...values,
  })
}

export interface Run {
  readonly shell?: Shell
  /** Given to the shell on standard input, as `curl ... | sh -s -- args` does. */
  readonly script: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** User and group to run as; only root may set it. */
  readonly userId?: number
  /** Programs that run the shell, such as strace. */
  readonly wrapper?: readonly string[]
}

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * Programs that stop the clock for the hook: its limits are seconds, and a busy machine may need longer for a test that
 * is not about them.
 */
export const PATIENT = new URL('patient', import.meta.url).pathname

/** The usual PATH, of a machine on which time matters. */
export const REAL_PATH = process.env['PATH'] ?? ''

/**
 * Runs a script to its end. The environment holds nothing but what the run asks for and a PATH with a stopped clock; a run
 * that is about time brings `REAL_PATH`.
 */
export function run({ shell = DASH, script, args = [], env = {}, userId, wrapper = [] }: Run): Promise<Outcome> {
  const [command, ...rest] = [...wrapper, ...shell.argv, '-s', '--', ...args]
  const child = spawn(command as string, rest, {
    env: { PATH: `${PATIENT}:${REAL_PATH}`, HOOK_TEST_NOW: String(Math.floor(Date.now() / 1000)), ...env },
    cwd: '/',
    stdio: 'pipe',
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A shell that ends before it has read everything closes the pipe; that is its right.
  child.stdin.on('error', () => undefined)
  child.stdin.end(script)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}

/** A folder with links to the named programs and nothing else, for use as PATH; its clock is stopped too, unless it is the real one. */
export function toolFolder(parent: string, tools: readonly string[], time: 'rests' | 'real' = 'rests'): string {
  const folder = mkdtempSync(join(parent, 'tools-'))
  chmodSync(folder, 0o755) // Other users run them too.
  for (const tool of tools) {
    const isPatient = time === 'rests' && existsSync(join(PATIENT, tool))
    symlinkSync(isPatient ? join(PATIENT, tool) : programPath(tool), join(folder, tool))
  }
  return folder
}

/** Path of a program; looked up once, as each test has dozens of them. */
export function programPath(name: string): string {
  const found = foundPrograms.get(name) ?? pathOf(name)
  if (found === null) throw new Error(`${name} is not installed (see CONTRIBUTING.md)`)
  foundPrograms.set(name, found)
  return found
}

const foundPrograms = new Map<string, string>()

export function isInstalled(name: string): boolean {
  return pathOf(name) !== null
}

function pathOf(name: string): string | null {
  const candidates = REAL_PATH.split(delimiter).map((folder) => join(folder, name))
  return candidates.find((path) => isExecutable(path)) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** A temporary folder and the function that removes it, whatever rights its contents have. */
export function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'hook-test-'))
  mkdirSync(join(path, 'tmp'), { mode: 0o777 })
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
