/** Makes releases after this one: this tree, except for the records that they write and read. */

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
/** What processes read besides. */
const FILES = ['hook', 'sdk/dist'] as const
const RUN_MS = 60_000

export interface Release {
  /** Runs `read-log.ts` of that tree; resolves to what it prints. */
  readonly run: (...args: readonly string[]) => Promise<string>
}

/** A column that it adds to the tables. */
const ITS_SQL =
  'ALTER TABLE installs {{onCluster}} ADD COLUMN IF NOT EXISTS shell LowCardinality(String) AFTER agent;\n'

/** It reads this release's records and its own, and writes its own, with a field more in each. Its tables have a column more. */
export async function makeNextRelease(folder: string): Promise<Release> {
  await copyTree(folder)
  let written = 0
  for await (const file of glob('{api,bin,dashboard,delivery,domain,fixtures,test}/**/*.ts', { cwd: folder })) {
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    const next = text.replace('oldest: 1, newest: 1 }', 'oldest: 1, newest: 2 }').replaceAll(/\bv: 1\b/g, 'v: 2')
    if (next === text) continue
    await writeFile(path, next)
    written++
  }
  if (written === 0) throw new Error('the next release is this one')
  await addField(folder)
  await writeFile(join(folder, 'ports/facts/sql/0002_next.sql'), ITS_SQL)
  return {
    run: async (...args) => {
      const program = [join(folder, 'test/versions/read-log.ts'), ...args]
      const { stdout } = await promisify(execFile)(process.execPath, program, { cwd: folder, timeout: RUN_MS })
      return stdout
    },
  }
}

/**
 * A release as a rolling upgrade meets it, whose processes share a log with ours and may be replaced by ours again: it reads the
 * next version of the records, and writes ours with a field more in each. Gives the folder.
 */
export async function makeLaterRelease(folder: string): Promise<string> {
  await copyTree(folder)
  await replaceIn(join(folder, 'domain/read-record.ts'), ['oldest: 1, newest: 1 }', 'oldest: 1, newest: 2 }'])
  await addField(folder)
  return folder
}

/** To each record that is written. */
async function addField(folder: string): Promise<void> {
  await replaceIn(
    join(folder, 'domain/records.ts'),
    ['return JSON.stringify(record)', "return JSON.stringify({ ...record, later: 'field' })"],
    ['JSON.stringify({ ...record, request:', "JSON.stringify({ ...record, later: 'field', request:"],
  )
}

async function copyTree(folder: string): Promise<void> {
  for (const part of [...PARTS, ...FILES]) await cp(join(ROOT, part), join(folder, part), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
}

async function replaceIn(
  file: string,
  ...changes: readonly (readonly [before: string, after: string])[]
): Promise<void> {
  let text = await readFile(file, 'utf8')
  for (const [before, after] of changes) {
    if (!text.includes(before)) throw new Error(`the later release is this one: no ${before} in ${file}`)
    text = text.replace(before, after)
  }
  await writeFile(file, text)
}
