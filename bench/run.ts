/**
 * Runs all benchmarks in sequence, or those that are named: `npm run -s bench -- http facts-writer`. Each heading shows
 * the rate of bare node:http on this machine at that time, because figures of two machines cannot be compared without
 * it.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { bareRate } from './support/http-load.ts'
import { needTools } from './support/rounds.ts'

const FOLDER = new URL('.', import.meta.url).pathname
/** The benchmarks by name: in this folder, in `hostile/`, or in `dashboard/`. */
const files = new Map(
  ['', 'hostile/', 'dashboard/'].flatMap((folder) =>
    readdirSync(join(FOLDER, folder))
      .filter((name) => name.endsWith('.ts') && name !== 'run.ts')
      .map((name) => [name.slice(0, -'.ts'.length), join(FOLDER, folder, name)] as const),
  ),
)
const known = [...files.keys()]
const named = process.argv.slice(2)
const unknown = named.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}; known: ${known.join(', ')}`)
  process.exit(2)
}
needTools('wrk', 'taskset')
const folder = mkdtempSync(join(tmpdir(), 'whence-bench-'))
const failed: string[] = []
for (const name of named.length === 0 ? known : named) {
  console.log(`\n== ${name} (bare node:http on this machine: ${(await bareRate(folder)).toFixed(0)}/s)`)
  const { status } = spawnSync(process.execPath, [files.get(name) ?? ''], { stdio: 'inherit' })
  if (status !== 0) failed.push(name)
}
rmSync(folder, { recursive: true, force: true })
if (failed.length > 0) {
  console.error(`\nFailed, or below the target: ${failed.join(', ')}`)
  process.exitCode = 1
}
