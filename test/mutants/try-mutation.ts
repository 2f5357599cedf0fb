/** Applies one mutation to a copy of the tree and runs its suites there. */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import type { RunReport } from '../support/run-report.ts'
import type { Mutation } from './mutations.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
/** A mutation may make a loop endless. */
const MOST_MS = 300_000

export type Verdict =
  | { readonly kind: 'killed' }
  /** All tests passed although the code was wrong. */
  | { readonly kind: 'survived' }
  /** The text is not there (any more), or there twice. */
  | { readonly kind: 'inapplicable'; readonly why: string }
  /** No test failed, but the run does not count: it found no tests, or the process died. */
  | { readonly kind: 'broken'; readonly why: string }

/** A copy of what git knows of the tree, with the same installed packages; `remove` deletes it. */
export async function copyTree(): Promise<{ readonly folder: string; readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'whence-mutants-'))
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  })
  for (const path of stdout.split('\0').filter((each) => each !== '' && existsSync(join(ROOT, each)))) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await cp(join(ROOT, path), join(folder, path))
  }
  if (existsSync(join(ROOT, 'sdk/dist')))
    await cp(join(ROOT, 'sdk/dist'), join(folder, 'sdk/dist'), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Leaves the copy as it was. */
export async function tryMutation(folder: string, mutation: Mutation): Promise<Verdict> {
  const file = join(folder, mutation.file)
  const text = existsSync(file) ? await readFile(file, 'utf8') : ''
  const times = text.split(mutation.old).length - 1
  if (times !== 1) return { kind: 'inapplicable', why: `the old text is there ${times} times` }
  await writeFile(
    file,
    text.replace(mutation.old, () => mutation.new),
  )
  try {
    return await runSuites(folder, mutation.suites)
  } finally {
    await writeFile(file, text)
  }
}

/** `survived` means: all tests passed. */
export async function runSuites(folder: string, suites: readonly string[]): Promise<Verdict> {
  const reportFile = join(folder, 'report.json')
  await rm(reportFile, { force: true })
  const mocha = join(folder, 'node_modules/mocha/bin/mocha.js')
  const flags = ['--no-config', '--bail', '--timeout', '20000', '--require', 'test/support/compile-cache.ts']
  const reporting = [
    '--reporter',
    join(folder, 'test/support/reporter.ts'),
    '--reporter-option',
    `report=${reportFile}`,
  ]
  const child = spawn(process.execPath, [mocha, ...flags, ...reporting, ...suites], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
  })
  let errors = ''
  child.stderr.on('data', (data: Buffer) => (errors = (errors + data.toString()).slice(-2_000)))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (!existsSync(reportFile)) {
    if (signal === 'SIGKILL') return { kind: 'killed' }
    return { kind: 'broken', why: errors }
  }
  const { tally } = JSON.parse(await readFile(reportFile, 'utf8')) as RunReport
  if (tally.failed > 0) return { kind: 'killed' }
  if (tally.passed === 0 || tally.skipped > 0) return { kind: 'broken', why: 'tests were skipped, or there were none' }
  return { kind: 'survived' }
}
