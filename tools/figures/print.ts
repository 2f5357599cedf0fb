/**
 * Prints the figures that measure the code's structure, as rows of a table: `node tools/figures/print.ts [ROOT]`.
 * ROOT is another checkout of this project, for figures before and after a change.
 */

import { join } from 'node:path'

import { cyclesOf } from './cycles.ts'
import {
  casts,
  commentLines,
  functionsDeclaredTwice,
  functionsOf,
  literalSpreads,
  partialTypes,
  typesDeclaredTwice,
  wideParameters,
} from './measures.ts'
import { filesPerFolder, sourcesOf, testSourcesOf, type Source } from './source.ts'

const LONG_FUNCTION_LINES = 60
const MANY_PARAMETERS = 4
const MANY_MEMBERS = 6

const root = process.argv[2] ?? join(import.meta.dirname, '../..')
for (const [what, figure] of figuresOf(root)) console.log(`| ${what} | ${figure} |`)

function figuresOf(tree: string): readonly (readonly [string, string])[] {
  const sources = sourcesOf(tree)
  const product = sources.filter(({ path }) => !path.startsWith('bench/'))
  const functions = sources.flatMap(functionsOf)
  const lines = sources.reduce((sum, source) => sum + source.lines, 0)
  // Callbacks of one line would hide how long the others are.
  const longer = functions.filter((each) => each.lines > 1)
  const long = functions.filter((each) => each.lines > LONG_FUNCTION_LINES).length
  const comments = sources.reduce((sum, source) => sum + commentLines(source), 0)
  return [
    ['files / lines', `${sources.length} / ${lines}`],
    ['files per folder, median / p95 / most', spread([...filesPerFolder(tree).values()])],
    ['lines per file, median / p95 / most', spread(sources.map((source) => source.lines))],
    ['lines per function of more than one, median / p95 / most', spread(longer.map((each) => each.lines))],
    [`functions above ${LONG_FUNCTION_LINES} lines`, `${long} of ${longer.length} (${percent(long, longer.length)})`],
    [
      `functions with more than ${MANY_PARAMETERS} parameters`,
      `${functions.filter(({ parameters }) => parameters > MANY_PARAMETERS).length}`,
    ],
    ['import cycles at run time', sizes(cyclesOf(sources, { types: false }))],
    ['import cycles with types', sizes(cyclesOf(sources, { types: true }))],
    ['lines that are comments', percent(comments, lines)],
    ['type names declared in more than one file', counted(typesDeclaredTwice(product))],
    ['function names declared in more than one file', counted(functionsDeclaredTwice(product))],
    ['lines of the product, without benchmarks', `${sumOfLines(product)}`],
    ['lines of tests and fixtures', `${sumOfLines(testSourcesOf(tree))}`],
    ['uses of `Pick` and `Omit`', `${sumOf(product, partialTypes)}`],
    ['literals that are spread where they stand', `${sumOf(product, literalSpreads)}`],
    ['casts, without `as const`', `${sumOf(product, casts)}`],
    [`parameter types of more than ${MANY_MEMBERS} members`, `${wideParameters(product, MANY_MEMBERS).length}`],
  ]
}

function sumOfLines(sources: readonly Source[]): number {
  return sumOf(sources, ({ lines }) => lines)
}

function sumOf(sources: readonly Source[], count: (source: Source) => number): number {
  return sources.reduce((sum, source) => sum + count(source), 0)
}

function counted(names: readonly string[]): string {
  return names.length === 0 ? '0' : `${names.length} (${names.join(', ')})`
}

/** The smallest value that so large a part of the values does not exceed. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (part: number): number => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
  return `${at(0.5)} / ${at(0.95)} / ${at(1)}`
}

function sizes(cycles: readonly (readonly string[])[]): string {
  return cycles.length === 0 ? '0' : `${cycles.length} (${cycles.map((cycle) => cycle.length).join(', ')} files)`
}

function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(2)} %`
}
