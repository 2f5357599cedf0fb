/** Moments that people type. */

import { expect } from 'chai'

import { momentOf } from '../../bin/tools/flags.ts'

const NOW_MS = Date.UTC(2026, 10, 26, 12)

describe('moments on the command line', () => {
  const momentIn = (text: string): number | null | undefined =>
    momentOf({ flags: new Map([['--since', text]]), positionals: [] }, '--since', NOW_MS)

  it('are ages, days, and times with or without a zone', () => {
    expect(momentIn('90m')).to.equal(NOW_MS - 90 * 60_000)
    expect(momentIn('2d')).to.equal(NOW_MS - 2 * 86_400_000)
    expect(momentIn('2024-02-29')).to.equal(Date.UTC(2024, 1, 29))
    expect(momentIn('2026-11-21T13:00')).to.equal(Date.UTC(2026, 10, 21, 13))
    expect(momentIn('2026-11-21T00:30+02:00')).to.equal(Date.UTC(2026, 10, 20, 22, 30))
  })

  it('are refused on days that do not exist', () => {
    for (const text of ['2026-02-30', '2026-04-31', '2026-02-29T10:00', '2026-13-01', '2026-00-10', '2026-11-21T25:00'])
      expect(momentIn(text), text).to.equal(null)
  })
})
