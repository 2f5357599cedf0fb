/** Reads the project's own files, as the tidy checks look at them: path and text, nothing installed or built. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SourceFile {
  /** From the project's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export const ROOT = join(import.meta.dirname, '../..')

/** Folders of product code, in the order in which they may import each other: each from those that come after it. */
export const PRODUCT_FOLDERS = [
  'bin',
  'api',
  'dashboard',
  'delivery',
  'operator',
  'stand-ins',
  'pages',
  'hook',
  'sdk',
  'runtime',
  'ports',
  'common',
  'domain',
] as const

/** The names of files that hold tests, by how long these take. The first is the everyday one. */
export const TEST_ENDINGS = ['.test.ts', '.slow.ts', '.long.ts'] as const

const SKIPPED = new Set(['node_modules', 'dist', '.git'])
/** What programs write into a checkout. Deeper down, `data` is a folder of the pages. */
const SKIPPED_AT_ROOT = new Set(['data', 'tmp', 'coverage'])

/** All files below these folders (or the root) whose names end in one of the endings, in order. */
export function sourceFiles(folders: readonly string[], endings: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => pathsBelow(folder))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

function pathsBelow(folder: string): readonly string[] {
  let entries
  try {
    entries = readdirSync(join(ROOT, folder), { withFileTypes: true })
  } catch {
    // A folder that does not exist yet.
    return []
  }
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return SKIPPED.has(entry.name) || SKIPPED_AT_ROOT.has(path) ? [] : pathsBelow(path)
    return entry.isFile() ? [path] : []
  })
}
