/** What Stryker's report says in short, and the page that is made of it. */

import type { Survivor } from './survivors.ts'

/** The part of the mutation testing report schema that is read. */
export interface StrykerReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>
}

interface Mutant {
  readonly status: string
  readonly replacement?: string
  readonly location: { readonly start: Position; readonly end: Position }
}

interface Position {
  /** Both count from 1. */
  readonly line: number
  readonly column: number
}

export type Changed = Pick<Survivor, 'file' | 'line' | 'changed'>

export interface PartResult {
  readonly name: string
  /** All that could run: code that does not parse or load any more is not counted. */
  readonly mutants: number
  readonly killed: number
  readonly explained: readonly Survivor[]
  readonly unexplained: readonly Changed[]
}

const KILLED: ReadonlySet<string> = new Set(['Killed', 'Timeout'])
const ALIVE: ReadonlySet<string> = new Set(['Survived', 'NoCoverage'])

export function partResult(name: string, report: StrykerReport, known: readonly Survivor[]): PartResult {
  const all = Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ file, source, mutant })),
  )
  const alive = all.filter(({ mutant }) => ALIVE.has(mutant.status)).map(changedBy)
  const explained = known.filter((survivor) => alive.some((each) => isSame(each, survivor)))
  return {
    name,
    mutants: all.filter(({ mutant }) => KILLED.has(mutant.status) || ALIVE.has(mutant.status)).length,
    killed: all.filter(({ mutant }) => KILLED.has(mutant.status)).length,
    explained,
    unexplained: alive.filter((each) => !explained.some((survivor) => isSame(each, survivor))),
  }
}

/** `left` names the parts that were not run. Survivors with a reason stand in `survivors.ts`. */
export function reportPage(results: readonly PartResult[], left: readonly string[]): string {
  const open = results.flatMap(({ unexplained }) => unexplained)
  return [
    '# Mutants',
    '',
    '`make mutants` writes this report. Mutants that do not load count neither way; every part needs 95 %.',
    '',
    '| Part | Mutants | Noticed | Share |',
    '| --- | --- | --- | --- |',
    ...results.map(
      ({ name, mutants, killed }) =>
        `| ${name} | ${mutants} | ${killed} | ${((killed / mutants) * 100).toFixed(1)} % |`,
    ),
    ...left.map((name) => `| ${name} | not run | | |`),
    '',
    ...(open.length === 0 ? [] : ['No test notices these, and no reason is given yet:', '']),
    ...open.map(({ file, line, changed }) => `- \`${file}\`: \`${line}\` to \`${changed}\``),
  ]
    .join('\n')
    .replace(/\n+$/, '\n')
}

/** The first line that the mutant changes, before and after. */
function changedBy({ file, source, mutant }: { file: string; source: string; mutant: Mutant }): Changed {
  const { start, end } = mutant.location
  const lines = source.split('\n')
  const first = lines[start.line - 1] ?? ''
  const tail = (lines[end.line - 1] ?? '').slice(end.column - 1)
  const changed = `${first.slice(0, start.column - 1)}${mutant.replacement ?? ''}${tail}`
  return { file, line: first.trim(), changed: (changed.split('\n')[0] ?? '').trim() }
}

function isSame(one: Changed, other: Changed): boolean {
  return one.file === other.file && one.line === other.line && one.changed === other.changed
}
