/** Who imports what a file exports. */

import { posix } from 'node:path'

import ts from 'typescript'

import type { SourceFile } from './source-files.ts'

interface Exported {
  readonly path: string
  readonly name: string
  readonly isType: boolean
}

/** `path#name` of each export of these files that none of `users` imports; those files count as users of each other. */
export function unusedExports(files: readonly SourceFile[], users: readonly SourceFile[]): readonly string[] {
  const used = usesOf([...files, ...users])
  return files
    .flatMap(exportsOf)
    .filter(({ path, name }) => !used.has(`${path}#${name}`) && !used.has(`${path}#*`))
    .map(({ path, name }) => `${path}#${name}`)
}

/** The same for values alone: what a type says about a value is often worth a name in a test. */
export function unusedValues(files: readonly SourceFile[], users: readonly SourceFile[]): readonly string[] {
  const types = new Set(
    files.flatMap(exportsOf).flatMap(({ path, name, isType }) => (isType ? [`${path}#${name}`] : [])),
  )
  return unusedExports(files, users).filter((each) => !types.has(each))
}

function exportsOf({ path, text }: SourceFile): readonly Exported[] {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    const isType = ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
    return namesOf(statement).map((name) => ({ path, name, isType }))
  })
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []))
  }
  const { name } = statement as ts.DeclarationStatement
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : []
}

/** `path#name` for each name that is imported, `path#*` for a file that is imported whole. */
function usesOf(files: readonly SourceFile[]): ReadonlySet<string> {
  const uses = new Set<string>()
  for (const { path, text } of files) {
    const visit = (node: ts.Node): void => {
      const found = importOf(node)
      if (found?.from.startsWith('.') === true) {
        const target = posix.join(posix.dirname(path), found.from)
        for (const name of found.names) uses.add(`${target}#${name}`)
      }
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest))
  }
  return uses
}

function importOf(node: ts.Node): { readonly from: string; readonly names: readonly string[] } | null {
  if (ts.isImportDeclaration(node)) return withNames(node.moduleSpecifier, node.importClause?.namedBindings)
  if (ts.isExportDeclaration(node)) return withNames(node.moduleSpecifier, node.exportClause ?? null)
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const name = node.qualifier !== undefined && ts.isIdentifier(node.qualifier) ? node.qualifier.text : '*'
    return ts.isStringLiteralLike(node.argument.literal) ? { from: node.argument.literal.text, names: [name] } : null
  }
  const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return isCall ? withNames(node.arguments[0], null) : null
}

/** No bindings: nothing is named. Null, or a namespace: everything is. */
function withNames(
  from: ts.Node | undefined,
  bindings: ts.NamedImportBindings | ts.NamedExportBindings | null | undefined,
) {
  if (from === undefined || !ts.isStringLiteralLike(from)) return null
  if (bindings === undefined) return { from: from.text, names: [] }
  if (bindings === null || !('elements' in bindings)) return { from: from.text, names: ['*'] }
  return { from: from.text, names: bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text) }
}
