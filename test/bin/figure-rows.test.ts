/** The rows of `whencectl report`. */

import { expect } from 'chai'
import { figureRows } from '../../bin/tools/figures/report.ts'
import type { Cell, Dimension } from '../../domain/figures/cells.ts'

const figures = (cells: Partial<Record<Dimension, readonly Cell[]>>): ReadonlyMap<Dimension, readonly Cell[]> =>
  new Map(Object.entries(cells) as [Dimension, readonly Cell[]][])

describe('rows of whencectl report', () => {
  const visits: Cell[] = [['', 700, 70, 0, 7, 7, 7]]
  const installs: Cell[] = [['', 30, 20, 10, 40, 15, 5]]

  it('add up to the total: what the values leave out is the rest', () => {
    const source: Cell[] = [
      ['newsletter', 400, 60, 0, 7, 7, 0],
      ['', 100, 0, 0, 0, 0, 7],
    ]
    const rows = figureRows('source', figures({ visits, installs, source }))
    expect(rows.names[0]).to.equal('visits')
    expect(rows).to.deep.include({ cells: source, other: [200, 10, 0, 0, 0, 0] })
    const path: Cell[] = [['cli', 30, 20, 10, 40, 15, 4]]
    expect(figureRows('path', figures({ visits, installs, path })).other).to.deep.equal([0, 0, 0, 0, 0, 1])
  })

  it('have no rest if nothing is left out, and none for reasons, which only some installs have', () => {
    expect(figureRows('page', figures({ visits, installs, page: visits })).other).to.equal(null)
    const reason: Cell[] = [['expired', 10, 5, 0, 0, 15, 0]]
    expect(figureRows('reason', figures({ visits, installs, reason })).other).to.equal(null)
    expect(figureRows('source', figures({}))).to.deep.include({ cells: [], other: null })
  })
})
