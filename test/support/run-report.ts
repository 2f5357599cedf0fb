/** The report of a test run: the tally, the seconds of each file, and what this machine could not run. */

import { stripVTControlCharacters } from 'node:util'

/** What became of all tests of a run. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The report of one mocha process; files are named from the project's root. */
export interface RunReport {
  readonly tally: Tally
  /** Wall seconds of each file, hooks included. */
  readonly seconds: Readonly<Record<string, number>>
  /** How many tests of a file were skipped; files without any are absent. */
  readonly skipped: Readonly<Record<string, number>>
  /** A line for each failed test or hook: its file, its title and both ends of the error. */
  readonly failures: readonly string[]
}

/** One test that has ended. */
export interface TestLine {
  readonly file: string
  readonly title: string
  readonly state: 'passed' | 'failed' | 'skipped'
  /** How long it took, without its hooks. */
  readonly ms: number
  /** As in a report; of a failed one. */
  readonly failure?: string
}

/** The last line may be cut short, and is left out then. */
export function testLinesIn(text: string): readonly TestLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TestLine)
}

/** Names the tests that belong to a slower level. It is no failure: the machine may have been busy. */
export function tooLongLines(lines: readonly TestLine[], mostMs: number): readonly string[] {
  const long = lines.filter(({ ms }) => ms > mostMs).sort((one, other) => other.ms - one.ms)
  if (long.length === 0) return []
  const head = `Longer than the ${mostMs / 1_000} s of this level; on a quiet machine they belong to a slower one:`
  return [head, ...long.map(({ ms, file, title }) => `${(ms / 1_000).toFixed(1).padStart(8)} s  ${file}: ${title}`), '']
}

/** The report of a process that ended before it could write one, from the lines of its tests. */
export function reportOfLines(text: string): RunReport {
  const lines = testLinesIn(text)
  const count = (state: TestLine['state']): number => lines.filter((line) => line.state === state).length
  return {
    tally: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    seconds: {},
    skipped: {},
    failures: lines.flatMap(({ failure }) => (failure === undefined ? [] : [failure])),
  }
}

/** `12 passed, 0 failed`, and how many were skipped if any were. */
export function summaryLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`
}

/** The run's exit code: failures count, an empty run too, and skipped tests if none may be skipped. */
export function exitCodeOf(
  { passed, failed, skipped }: Tally,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const isStrict = env['CI'] === 'true'
  const bad = failed + (isStrict ? skipped : 0)
  return bad === 0 && passed === 0 ? 1 : Math.min(bad, 1)
}

/** One report of several processes. Each brings its own files. */
export function mergeReports(reports: readonly RunReport[]): RunReport {
  const sum = (count: (tally: Tally) => number): number => reports.reduce((all, { tally }) => all + count(tally), 0)
  return {
    tally: {
      passed: sum(({ passed }) => passed),
      failed: sum(({ failed }) => failed),
      skipped: sum(({ skipped }) => skipped),
    },
    seconds: Object.assign({}, ...reports.map(({ seconds }) => seconds)) as Record<string, number>,
    skipped: Object.assign({}, ...reports.map(({ skipped }) => skipped)) as Record<string, number>,
    failures: reports.flatMap(({ failures }) => failures),
  }
}

/** Lines of seconds: a folder with the sum of its files, then its files, the slowest first. */
export function timeLines(seconds: RunReport['seconds']): readonly string[] {
  const folders = Map.groupBy(Object.entries(seconds), ([file]) => folderOf(file))
  const sumOf = (files: readonly (readonly [string, number])[]): number => files.reduce((sum, [, s]) => sum + s, 0)
  const slowestFirst = [...folders].sort(([, one], [, other]) => sumOf(other) - sumOf(one))
  return slowestFirst.flatMap(([folder, files]) => [
    `${sumOf(files).toFixed(1).padStart(8)} s  ${folder}`,
    ...files
      .sort(([, one], [, other]) => other - one)
      .map(([file, own]) => `${own.toFixed(1).padStart(8)} s    ${file.slice(folder.length + 1)}`),
  ])
}

const MOST_OF_AN_ERROR = 400

interface Failure {
  readonly file: string
  readonly title: string
  readonly error: unknown
}

/** `FAILED file: title: the error in one line`, and the list that was not as expected, if it was one. */
export function failureLine({ file, title, error }: Failure): string {
  const message = error instanceof Error ? error.message : String(error)
  // A browser says in the lines below the first one what it waited for, in colours.
  const line = stripVTControlCharacters(message).trim().replaceAll(/\s+/g, ' ')
  return `FAILED ${file}: ${title}: ${bothEnds(line)}${listedIn(error)}`
}

/** What a program printed says at its end why it ended. */
function bothEnds(line: string): string {
  return line.length <= 2 * MOST_OF_AN_ERROR
    ? line
    : `${line.slice(0, MOST_OF_AN_ERROR)} … ${line.slice(-MOST_OF_AN_ERROR)}`
}

/** Chai's messages abridge a list (`[ …(25) ]`), and CI shows nothing but these lines. */
function listedIn(error: unknown): string {
  const { actual } = (error ?? {}) as { readonly actual?: unknown }
  return Array.isArray(actual) ? `; it was ${JSON.stringify(actual).slice(0, MOST_OF_AN_ERROR)}` : ''
}

/** A block that cannot be overlooked, naming the files whose tests were skipped; empty if none were. */
export function notRunLines({ tally, skipped }: RunReport): readonly string[] {
  if (tally.skipped === 0) return []
  const rule = '!'.repeat(100)
  const files = Object.entries(skipped).map(([file, count]) => `!! ${String(count).padStart(6)}  ${file}`)
  const what = `!! NOT RUN: ${tally.skipped} tests, for want of what \`sh test/install-tools.sh\` brings. They prove nothing here:`
  return [rule, what, ...files, '!! With CI=true each of them is a failure.', rule]
}

/** `test/api` of `test/api/support/x.test.ts`; a file right below `test` is its own folder. */
function folderOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}
