/** A column that is declared and not written is an error of the compiler, for each table. */

import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

import { FACT_TABLES } from '../../ports/facts/columns.ts'

const path = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))
/** Tables whose columns are declared elsewhere: the file, and how the declaration begins. */
const DECLARED_IN: ReadonlyMap<string, readonly [table: string, beginning: string]> = new Map([
  [path('ports/facts/visits.ts'), ['visits', 'VISIT_COLUMNS = {']],
  [path('ports/facts/counted-install-columns.ts'), ['counted_installs', 'COUNTED_INSTALL_COLUMNS = {']],
])
const COLUMNS = ['columns', 'stream-tables', 'spend-tables', 'alert-tables'].map((name) =>
  path(`ports/facts/${name}.ts`),
)
/** Where rows are made. */
const ROWS = [
  'delivery/facts-writer/fact-rows.ts',
  'delivery/counting/count-installs.ts',
  'delivery/counting/hour-marks.ts',
  'delivery/facts-writer/stream-rows.ts',
  'delivery/streams/progress-store.ts',
  'delivery/rollup/rollup.ts',
  'delivery/rollup/replay-jobs.ts',
  'delivery/rollup/visit-hours.ts',
  'delivery/tools/erase.ts',
].map(path)

/** The declarations with one more column in each table, which nothing writes. */
function withForgotten(file: string, text: string): string {
  const [table, beginning = ''] = DECLARED_IN.get(file) ?? []
  if (table !== undefined) return text.replace(beginning, `$& forgotten_in_${table}: 'text',`)
  if (!COLUMNS.includes(file)) return text
  return text.replace(/^ {2}(\w+): \{\n {4}columns: \{(?=\s)/gm, "$& forgotten_in_$1: 'text',")
}

function errorsWith(change: (file: string, text: string) => string): readonly string[] {
  const config = ts.readConfigFile(path('tsconfig.json'), (file) => readFileSync(file, 'utf8')).config as {
    readonly compilerOptions: object
  }
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, incremental: false, tsBuildInfoFile: null },
    path('.'),
  )
  const host = ts.createCompilerHost(options)
  const read = host.readFile.bind(host)
  host.readFile = (file) => {
    const text = read(file)
    return text === undefined ? undefined : change(file, text)
  }
  const program = ts.createProgram(ROWS, options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

describe('the columns of a table', () => {
  it('are all written as declared', () => {
    expect(errorsWith((_, text) => text)).to.deep.equal([])
  }).timeout(120_000)

  it('cannot be forgotten in the rows of their table: that does not compile', () => {
    const errors = errorsWith(withForgotten).join('\n')
    for (const table of FACT_TABLES) expect(errors, table).to.contain(`'forgotten_in_${table}'`)
  }).timeout(120_000)
})
