/** Finds keys that an object of a JSON file has twice: of the two, parsers take the last without a word. */

import ts from 'typescript'

import { nodesIn } from '../../tools/figures/source.ts'
import type { SourceFile } from './source-files.ts'

export function doubledKeys({ path, text }: SourceFile): readonly string[] {
  return nodesIn(ts.parseJsonText(path, text)).flatMap((node) => {
    if (!ts.isObjectLiteralExpression(node)) return []
    const keys = node.properties.flatMap(({ name }) =>
      name !== undefined && ts.isStringLiteral(name) ? [name.text] : [],
    )
    const doubled = keys.filter((key, index) => keys.indexOf(key) !== index)
    return doubled.map((key) => `${path} has "${key}" twice`)
  })
}
