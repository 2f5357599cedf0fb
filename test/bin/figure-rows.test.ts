/** The lines of `whencectl report`. */

import { expect } from 'chai'

import { reportBy } from '../../bin/tools/figures/report.ts'
import { sourceRows } from '../../dashboard/figures/answers.ts'
import type { InstallFigure } from '../../dashboard/figures/read-installs.ts'
import { INSTALL_COUNTS, type InstallCounts } from '../../domain/figures/installs.ts'
import { recordOf } from '../../domain/typed-keys.ts'

const counts = (installs: number, matched = 0): InstallCounts => ({
  ...recordOf(INSTALL_COUNTS, () => 0),
  installs,
  matched,
  unmatched: installs - matched,
})
const value = (name: string, installs: number): InstallFigure => ({
  row: 'value',
  value: name,
  counts: counts(installs, installs),
})

describe('lines of whencectl report', () => {
  const installs: readonly InstallFigure[] = [value('show-hn', 5), { row: 'no_visit', value: '', counts: counts(2) }]

  it('add up to the total, which is the last: what the values leave out is the rest', () => {
    const rows = sourceRows({
      by: 'campaign',
      total: { installs: counts(10, 8), visits: [700, 70, 9, 0, 7, 7, 7] },
      installs,
      visits: {
        cells: [
          ['', 100, 0, 0, 0, 0, 7, 0],
          ['news', 400, 60, 3, 7, 7, 0, 0],
          ['show-hn', 1, 1, 1, 0, 1, 0, 1],
        ],
        total: [700, 70, 9, 0, 7, 7, 7],
      },
    })
    const { names, lines } = reportBy(rows)
    expect(names.slice(0, 3)).to.deep.equal(['visits', 'copied', 'installs'])
    const shown = lines.map((line) => [line.row, line.value, line.counts['visits'], line.counts['installs']])
    expect(shown).to.deep.equal([
      ['value', 'show-hn', 1, 5],
      ['value', 'news', 400, 0],
      ['no_campaign', '', 100, 0],
      ['no_visit', '', 0, 2],
      ['other', '', 199, 3],
      ['total', '', 700, 10],
    ])
  })

  it('have no rest if nothing is left out, and no visits by what only machines say', () => {
    const total = { installs: counts(7, 5), visits: [9, 0, 0, 0, 0, 0, 0] as const }
    const { lines } = reportBy(sourceRows({ by: 'version', total, installs, visits: null }))
    expect(lines.map(({ row, counts: { visits } }) => [row, visits])).to.deep.equal([
      ['value', null],
      ['no_visit', null],
      ['total', 9],
    ])
  })

  it('are none if there is nothing', () => {
    const total = { installs: counts(0), visits: [0, 0, 0, 0, 0, 0, 0] as const }
    expect(
      reportBy(sourceRows({ by: 'source', total, installs: [], visits: { cells: [], total: total.visits } })).lines,
    ).to.deep.equal([])
  })
})
