/** Finds files that import each other, directly or through others. */

import { posix } from 'node:path'

import ts from 'typescript'

import { nodesIn, type Source } from './source.ts'

/** Groups of files of which each reaches each other one; largest first. With `types`, imports of types alone count too. */
export function cyclesOf(sources: readonly Source[], { types }: { readonly types: boolean }): readonly string[][] {
  const known = new Set(sources.map(({ path }) => path))
  const graph = new Map(
    sources.map((source) => [source.path, importsOf(source, types).filter((target) => known.has(target))]),
  )
  const groups = new Map<string, string[]>()
  const reached = new Map([...known].map((path) => [path, reachedFrom(path, graph)]))
  for (const path of known) {
    const group = [...known].filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path))
    if (group.length > 0) groups.set(group.join('\n'), group)
  }
  return [...groups.values()].sort((one, other) => other.length - one.length)
}

function reachedFrom(start: string, graph: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>()
  const queue = [...(graph.get(start) ?? [])]
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    queue.push(...(graph.get(path) ?? []))
  }
  return reached
}

function importsOf({ path, parsed }: Source, types: boolean): readonly string[] {
  return nodesIn(parsed).flatMap((node) => {
    const specifier = specifierOf(node)
    if (specifier === null || !specifier.text.startsWith('.')) return []
    return types || !isOfTypes(node) ? [posix.join(posix.dirname(path), specifier.text)] : []
  })
}

function specifierOf(node: ts.Node): ts.StringLiteralLike | null {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return literal(node.moduleSpecifier)
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return literal(node.argument.literal)
  const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return isCall ? literal(node.arguments[0]) : null
}

function literal(node: ts.Node | undefined): ts.StringLiteralLike | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? node : null
}

/** Nothing of it is left at run time, or it names only types. */
function isOfTypes(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true
  if (ts.isExportDeclaration(node)) return node.isTypeOnly
  if (!ts.isImportDeclaration(node) || node.importClause === undefined) return false
  const { isTypeOnly, name, namedBindings } = node.importClause
  if (isTypeOnly) return true
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly)
}
