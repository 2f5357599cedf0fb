/** Reads the source files that the figures are about, and what TypeScript's own parser finds in them. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import ts from 'typescript'

export interface Source {
  /** From the tree's root. */
  readonly path: string
  readonly lines: number
  readonly parsed: ts.SourceFile
}

/** What the product is made of, with the programs that measure it. */
const FOLDERS = [
  'api',
  'bench',
  'bin',
  'common',
  'dashboard',
  'delivery',
  'domain',
  'hook',
  'operator',
  'pages',
  'ports',
  'runtime',
  'sdk',
  'stand-ins',
]

/** Every TypeScript file of the product and of `bench/` that git has in this tree; tests and declarations are left out. */
export function sourcesOf(root: string): readonly Source[] {
  return parsedFiles(root, FOLDERS)
}

/** The same of tests and of what they share. */
export function testSourcesOf(root: string): readonly Source[] {
  return parsedFiles(root, ['test', 'fixtures'])
}

function parsedFiles(root: string, folders: readonly string[]): readonly Source[] {
  return trackedFiles(root, folders)
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const parsed = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
      return { path, lines: linesOf(text), parsed }
    })
}

/** Files by folder, whatever they are written in; a folder that holds folders alone does not count. */
export function filesPerFolder(root: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const path of trackedFiles(root, FOLDERS).filter((each) => /\.(ts|tsx|js|sh|lua|sql)$/.test(each))) {
    const folder = path.slice(0, path.lastIndexOf('/'))
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return counts
}

function trackedFiles(root: string, folders: readonly string[]): readonly string[] {
  const listed = execFileSync('git', ['-C', root, 'ls-files', '-z', '--', ...folders], { encoding: 'utf8' })
  return listed.split('\0').filter((path) => path !== '')
}

export function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

/** The node and all below it. */
export function nodesIn(top: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(top)
  return nodes
}
