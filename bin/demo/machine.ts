/** A simulated machine for the demo: a home folder, the install command run in it, and what both leave on disk. */

import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf, memberOf } from '../../domain/strict-json.ts'
import { LIMITS } from '../../domain/limits.ts'
import { chromiumFolder } from './chromium.ts'

const MARKER_START = '{"format":"opfs-install-attribution"'
/** The hook promises to finish long before. */
const INSTALL_MS = 30_000

/** The marker that a page left in this home folder's Chromium profile; null if there is none. */
export async function findMarker(home: string): Promise<{ readonly path: string; readonly bytes: number } | null> {
  const root = join(chromiumFolder(home), 'Default', 'File System')
  const names = await readdir(root, { recursive: true }).catch(() => [])
  for (const name of names.filter((each) => /(^|\/)t\/\d\d\/\d+$/.test(each))) {
    const path = join(root, name)
    const { size } = await stat(path)
    if (size !== LIMITS.markerBytes) continue
    if ((await readFile(path, 'utf8')).startsWith(MARKER_START)) return { path, bytes: size }
  }
  return null
}

/** Runs a command like a person with this home folder. Resolves with its terminal output. */
export async function runAtHome(command: string, home: string): Promise<string> {
  await mkdir(home, { recursive: true })
  const { PATH = '', LANG = 'C', TZ = '' } = process.env
  // Without the rest of our environment: CI=true or DO_NOT_TRACK would suppress what the demo shows.
  const child = spawn('sh', ['-c', command], {
    env: { PATH, LANG, HOME: home, ...(TZ === '' ? {} : { TZ }) },
    cwd: home,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: INSTALL_MS,
  })
  let text = ''
  child.stdout.on('data', (data) => (text += String(data)))
  child.stderr.on('data', (data) => (text += String(data)))
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (status !== 0) throw new Error(`the install command ended with status ${status}: ${text}`)
  return text
}

/** The event that the hook reported last, from the copy it keeps; null if it reported none. */
export async function lastEventId(home: string, website: string): Promise<string | null> {
  const state = process.platform === 'darwin' ? 'Library/Application Support' : '.local/state'
  const path = join(home, state, 'whence', website, 'last_request.json')
  const text = await readFile(path, 'utf8').catch(() => null)
  return text === null ? null : textOf(memberOf(JSON.parse(text), 'event_id'))
}
