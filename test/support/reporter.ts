/** Mocha's spec output with one last line that a machine can read; with CI=true a skipped test is a failure. */

import Mocha from 'mocha'

/** What became of all tests of a run. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** `12 passed, 0 failed`, and how many were skipped where any were. */
export function summaryLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`
}

/** The run's exit code: failures count, an empty run too, and skipped tests where none may be skipped. */
export function exitCodeOf(
  { passed, failed, skipped }: Tally,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const isStrict = env['CI'] === 'true'
  const bad = failed + (isStrict ? skipped : 0)
  return bad === 0 && passed === 0 ? 1 : Math.min(bad, 1)
}

export default class SummaryReporter extends Mocha.reporters.Spec {
  readonly #runner: Mocha.Runner

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    this.#runner = runner
  }

  /** Mocha's last word: called once everything has ended; what it gets becomes the exit code. */
  override done(failures: number, end?: (failures: number) => void): void {
    const stats = this.#runner.stats
    // `failures` counts what failed in hooks too, which the statistics file under the test that was next.
    const tally = { passed: stats?.passes ?? 0, failed: failures, skipped: stats?.pending ?? 0 }
    if (tally.skipped > 0 && process.env['CI'] === 'true')
      console.log('  Skipped tests count as failures with CI=true.\n')
    console.log(summaryLine(tally))
    end?.(exitCodeOf(tally, process.env))
  }
}
