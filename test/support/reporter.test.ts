/** The last line and the exit code of a test run: CI believes them, so they must not flatter. */

import { expect } from 'chai'

import { exitCodeOf, summaryLine } from './reporter.ts'

describe('the summary of a test run', () => {
  it('names skipped tests only where there are any', () => {
    expect(summaryLine({ passed: 12, failed: 0, skipped: 0 })).to.equal('12 passed, 0 failed')
    expect(summaryLine({ passed: 12, failed: 1, skipped: 2 })).to.equal('12 passed, 1 failed, 2 skipped')
  })

  it('fails on a failure, on an empty run, and with CI=true on a skipped test', () => {
    expect(exitCodeOf({ passed: 1, failed: 0, skipped: 0 }, {})).to.equal(0)
    expect(exitCodeOf({ passed: 1, failed: 1, skipped: 0 }, {})).to.equal(1)
    expect(exitCodeOf({ passed: 0, failed: 0, skipped: 0 }, {})).to.equal(1)
    expect(exitCodeOf({ passed: 1, failed: 0, skipped: 1 }, {})).to.equal(0)
    expect(exitCodeOf({ passed: 1, failed: 0, skipped: 1 }, { CI: 'true' })).to.equal(1)
  })
})
