/** Mocha's spec output, then the seconds of each file, what was not run, and one last line that a machine can read. */

import { appendFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

import Mocha from 'mocha'

import {
  exitCodeOf,
  failureLine,
  notRunLines,
  summaryLine,
  timeLines,
  type RunReport,
  type TestLine,
} from './run-report.ts'

const ROOT = join(import.meta.dirname, '../..')
const { EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING } =
  Mocha.Runner.constants

/**
 * With `--reporter-option report=FILE` the report goes into that file, for runs of several processes; with `lines=FILE` each test is a line of JSON
 * there as soon as it has ended, which outlives the process.
 */
export default class SummaryReporter extends Mocha.reporters.Spec {
  readonly #runner: Mocha.Runner
  readonly #reportFile: string | undefined
  readonly #seconds: Record<string, number> = {}
  readonly #skipped: Record<string, number> = {}
  readonly #failures: string[] = []

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    this.#runner = runner
    const own = options.reporterOptions as { readonly report?: string; readonly lines?: string } | undefined
    this.#reportFile = own?.report
    const note = (line: TestLine): void => {
      if (own?.lines !== undefined) appendFileSync(own.lines, `${JSON.stringify(line)}\n`)
    }
    let startedAtMs = 0
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root === true) startedAtMs = performance.now()
    })
    runner.on(EVENT_SUITE_END, (suite) => {
      if (suite.parent?.root === true) add(this.#seconds, suite.file, (performance.now() - startedAtMs) / 1_000)
    })
    runner.on(EVENT_TEST_PASS, (test) => note({ ...noteOf(test), state: 'passed' }))
    runner.on(EVENT_TEST_PENDING, (test) => {
      add(this.#skipped, test.file, 1)
      note({ ...noteOf(test), state: 'skipped' })
    })
    runner.on(EVENT_TEST_FAIL, (test, error: unknown) => {
      const failure = failureLine({ file: fileOf(test.file), title: test.fullTitle(), error })
      this.#failures.push(failure)
      note({ ...noteOf(test), state: 'failed', failure })
    })
  }

  /** Mocha's last word: called once everything has ended; what it gets becomes the exit code. */
  override done(failures: number, end?: (failures: number) => void): void {
    const stats = this.#runner.stats
    // `failures` counts what failed in hooks too, which the statistics file under the test that was next.
    const tally = { passed: stats?.passes ?? 0, failed: failures, skipped: stats?.pending ?? 0 }
    const report = { tally, seconds: this.#seconds, skipped: this.#skipped, failures: this.#failures }
    if (this.#reportFile === undefined) console.log(closingLines(report).join('\n'))
    else writeFileSync(this.#reportFile, JSON.stringify(report))
    end?.(exitCodeOf(tally, process.env))
  }
}

/** What is printed under a run: what failed stands right above the last line, the tally. */
export function closingLines(report: RunReport): readonly string[] {
  const times = ['Seconds by file:', ...timeLines(report.seconds), '']
  return [...times, ...notRunLines(report), ...report.failures, summaryLine(report.tally)]
}

function noteOf(test: Mocha.Runnable): Pick<TestLine, 'file' | 'title' | 'ms'> {
  return { file: fileOf(test.file), title: test.fullTitle(), ms: test.duration ?? 0 }
}

function add(sums: Record<string, number>, path: string | undefined, amount: number): void {
  const file = fileOf(path)
  sums[file] = (sums[file] ?? 0) + amount
}

function fileOf(path: string | undefined): string {
  return path === undefined ? 'test' : relative(ROOT, path)
}
