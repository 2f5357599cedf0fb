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

/** Uses of `Pick` and `Omit`: types that are a part of another, which a reader must look up. */
export function partialTypes({ parsed }: Source): number {
  return nodesIn(parsed).filter((node) => {
    if (ts.isTypeReferenceNode(node)) return isPickOrOmit(node.typeName)
    return ts.isExpressionWithTypeArguments(node) && isPickOrOmit(node.expression)
  }).length
}

function isPickOrOmit(name: ts.Node): boolean {
  return ts.isIdentifier(name) && (name.text === 'Pick' || name.text === 'Omit')
}

/** Literals that are spread where they stand: `{ ...{ a, b } }`. */
export function literalSpreads({ parsed }: Source): number {
  return nodesIn(parsed).filter((node) => {
    if (!ts.isSpreadAssignment(node) && !ts.isSpreadElement(node) && !ts.isJsxSpreadAttribute(node)) return false
    const spread = withoutTypes(node.expression)
    return (
      ts.isObjectLiteralExpression(spread) ||
      (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(spread) && ts.isArrayLiteralExpression(node.parent))
    )
  }).length
}

function withoutTypes(node: ts.Expression): ts.Expression {
  const isWrapped = ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)
  return isWrapped ? withoutTypes(node.expression) : node
}

/** `x as T`; `as const` is none. */
export function casts({ parsed }: Source): number {
  return nodesIn(parsed).filter((node) => ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)).length
}

/**
 * Interfaces with more than `most` members, inherited ones included, that a function or constructor takes as a parameter. Each name
 * is declared once in the product, so names are enough.
 */
export function wideParameters(sources: readonly Source[], most: number): readonly string[] {
  const interfaces = new Map(
    sources
      .flatMap(({ parsed }) => nodesIn(parsed).filter(ts.isInterfaceDeclaration))
      .map((node) => [node.name.text, node]),
  )
  const width = (name: string): number => {
    const node = interfaces.get(name)
    if (node === undefined) return 0
    const parents = (node.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression))
    return (
      node.members.length + parents.reduce((sum, parent) => sum + (ts.isIdentifier(parent) ? width(parent.text) : 0), 0)
    )
  }
  const taken = sources.flatMap(({ parsed }) =>
    nodesIn(parsed)
      .filter(ts.isParameter)
      .flatMap(({ type }) => (type !== undefined && ts.isTypeReferenceNode(type) ? [type.typeName] : []))
      .flatMap((name) => (ts.isIdentifier(name) ? [name.text] : [])),
  )
  return [...new Set(taken)].filter((name) => width(name) > most).sort()
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
