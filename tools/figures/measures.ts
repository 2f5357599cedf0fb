/** What is counted: lengths of functions, lines that are comments, type names declared twice. */

import ts from 'typescript'

import { nodesIn, type Source } from './source.ts'

export interface FunctionFigure {
  readonly lines: number
  readonly parameters: number
}

/** Every function with a body: named, arrow, method, constructor and accessor; from its first to its last line. */
export function functionsOf({ parsed }: Source): readonly FunctionFigure[] {
  return nodesIn(parsed).flatMap((node) => {
    if (!ts.isFunctionLike(node) || (node as ts.FunctionLikeDeclaration).body === undefined) return []
    const lineAt = (position: number): number => parsed.getLineAndCharacterOfPosition(position).line
    const lines = lineAt(node.getEnd()) - lineAt(node.getStart(parsed)) + 1
    return [{ lines, parameters: node.parameters.length }]
  })
}

/** Lines on which there is a comment and nothing else. */
export function commentLines({ parsed }: Source): number {
  let count = 0
  let isInBlock = false
  for (const line of parsed.text.split('\n')) {
    const text = line.trim()
    const opens = text.startsWith('/*')
    if (isInBlock || opens || text.startsWith('//')) count++
    if (isInBlock || opens) isInBlock = !text.includes('*/')
  }
  return count
}

/** Names of types that two or more files declare, each for itself. */
export function namesDeclaredTwice(sources: readonly Source[]): readonly string[] {
  const files = new Map<string, Set<string>>()
  for (const { path, parsed } of sources) {
    for (const statement of parsed.statements) {
      if (!isTypeDeclaration(statement)) continue
      const { text } = statement.name
      files.set(text, (files.get(text) ?? new Set()).add(path))
    }
  }
  return [...files].flatMap(([name, paths]) => (paths.size > 1 ? [name] : [])).sort()
}

function isTypeDeclaration(node: ts.Statement): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}
