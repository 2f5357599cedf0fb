/** Runs the install command as a person's terminal would: real curl, real shell, real hook, a home folder of its own. */

import { spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { post, type Reply } from '../../../fixtures/service/requests.ts'

export interface Installed {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  readonly tookMs: number
  /** The request that the hook reports as sent; null if it sent none. */
  readonly request: Readonly<Record<string, any>> | null
}

export interface InstallOptions {
  readonly command: string
  readonly home: string
  /** The shell that runs the hook, as words: `busybox sh`. */
  readonly shell?: string
  readonly env?: Readonly<Record<string, string>>
}

export const SHELLS = ['dash', 'bash', 'busybox sh', 'ksh93', 'zsh'] as const

let runs = 0

/** Every run has a state folder of its own, so that each is an installation of its own. */
export async function install({ command, home, shell = 'dash', env = {} }: InstallOptions): Promise<Installed> {
  const state = join(home, `state-${(runs += 1)}`)
  await mkdir(state, { recursive: true })
  const beganMs = performance.now()
  const child = spawn('sh', ['-c', command.replace(/\| sh /, `| ${shell} `)], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home, XDG_STATE_HOME: state, ...env },
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data) => (stdout += String(data)))
  child.stderr.on('data', (data) => (stderr += String(data)))
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const text = await readFile(join(state, 'whence/acme-dev/last_request.json'), 'utf8').catch(() => null)
  const request = text === null ? null : (JSON.parse(text) as Record<string, any>)
  return { status, stdout, stderr, tookMs: performance.now() - beganMs, request }
}

/** The hook throws its answer away; a repeat of the very request is answered the same, and says that it is one. */
export async function answerTo(baseUrl: string, { request }: Installed): Promise<Reply['body']> {
  if (request === null) throw new Error('the hook sent nothing')
  const { status, body, text } = await post(`${baseUrl}/v1/events`, request)
  if (status !== 200) throw new Error(`the repeat was answered ${status} ${text}`)
  return body
}
