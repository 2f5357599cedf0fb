/** Names of types that more than one product file declares: one word for two ideas. */

import ts from 'typescript'

import type { SourceFile } from './source-files.ts'

/** Each repeated name, followed by the files that declare it. */
export function repeatedTypeNames(files: readonly SourceFile[]): readonly string[] {
  const declared = files.flatMap((file) => typeNamesIn(file).map((name) => ({ name, path: file.path })))
  const byName = Map.groupBy(declared, ({ name }) => name)
  return [...byName]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(', ')}`)
    .sort()
}

/** Each once, however often a file repeats it to merge declarations. */
function typeNamesIn({ path, text }: SourceFile): readonly string[] {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const names = statements.flatMap((statement) => {
    const isType =
      ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isClassDeclaration(statement)
    return isType && statement.name !== undefined ? [statement.name.text] : []
  })
  return [...new Set(names)]
}
