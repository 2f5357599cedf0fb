/** Makes the release after this one: this tree, but for the version of the records that it writes and reads. */

import { execFile } from 'node:child_process'
import { cp, glob, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PARTS = [
  'package.json',
  'api',
  'bin',
  'common',
  'dashboard',
  'delivery',
  'domain',
  'fixtures',
  'ports',
  'runtime',
  'stand-ins',
  'test',
] as const
const RUN_MS = 60_000

export interface Release {
  /** Runs `read-log.ts` of that tree; resolves to what it prints. */
  readonly run: (...args: readonly string[]) => Promise<string>
}

/** It reads this release's records and its own, and writes its own. */
export async function makeNextRelease(folder: string): Promise<Release> {
  for (const part of PARTS) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  let written = 0
  for await (const file of glob('{api,bin,delivery,domain,fixtures,test}/**/*.ts', { cwd: folder })) {
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    const next = text.replace('oldest: 1, newest: 1 }', 'oldest: 1, newest: 2 }').replaceAll(/\bv: 1\b/g, 'v: 2')
    if (next === text) continue
    await writeFile(path, next)
    written++
  }
  if (written === 0) throw new Error('the next release is this one')
  return {
    run: async (...args) => {
      const program = [join(folder, 'test/versions/read-log.ts'), ...args]
      const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder, timeout: RUN_MS })
      return stdout
    },
  }
}
