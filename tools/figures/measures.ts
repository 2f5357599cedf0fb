/** What is counted: lengths of functions, lines that are comments, names of types and of functions declared twice. */

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
export function typesDeclaredTwice(sources: readonly Source[]): readonly string[] {
  return declaredTwice(sources, (statement) =>
    ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) ? [statement.name.text] : [],
  )
}

/** The same of functions, arrow functions included; those inside of another function do not count. */
export function functionsDeclaredTwice(sources: readonly Source[]): readonly string[] {
  return declaredTwice(sources, (statement) => {
    if (ts.isFunctionDeclaration(statement)) return statement.name === undefined ? [] : [statement.name.text]
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      initializer !== undefined && ts.isArrowFunction(initializer) && ts.isIdentifier(name) ? [name.text] : [],
    )
  })
}

function declaredTwice(
  sources: readonly Source[],
  namesIn: (statement: ts.Statement) => readonly string[],
): readonly string[] {
  const files = new Map<string, Set<string>>()
  for (const { path, parsed } of sources) {
    for (const name of parsed.statements.flatMap(namesIn)) files.set(name, (files.get(name) ?? new Set()).add(path))
  }
  return [...files].flatMap(([name, paths]) => (paths.size > 1 ? [name] : [])).sort()
}
