/** What the overview decides: which visits stand beside filtered installs, which rows are shown, and what changed most. */

import { expect } from 'chai'

import { DAY_MS } from '../../domain/durations.ts'
import { areFilters, readFilters } from '../../domain/figures/filters.ts'
import {
  areFew,
  comparedRows,
  leadingRows,
  hadTimeToConvert,
  largestChange,
  visitsBeside,
  type ComparedRow,
} from '../../domain/figures/overview.ts'

const valueRow = (value: string, installs: number, before = 0): ComparedRow => ({
  row: 'value',
  value,
  installs,
  visits: installs * 10,
  before,
})

describe('the overview', () => {
  it('counts visits of values of one dimension by sums, those under other filters on visits one by one, and none under filters on installs', () => {
    const beside = (...texts: readonly string[]) => {
      const filters = readFilters(texts)
      if (!areFilters(filters)) throw new Error(texts.join(' '))
      return visitsBeside(filters)
    }
    expect(beside()).to.deep.equal({ kind: 'all' })
    for (const text of ['source:is:news', 'source:is_not:', 'source:is:a,b', 'page:is:/', 'page:is_not:/']) {
      const [dimension, op, values = ''] = text.split(':')
      const isNot = op === 'is_not'
      expect(beside(text), text).to.deep.equal({ kind: 'values', isNot, dimension, values: values.split(',') })
    }
    for (const texts of [['page:is:/a,/b'], ['source:contains:n'], ['source:is:news', 'campaign:is:']])
      expect(beside(...texts), texts.join(' ')).to.deep.equal({ kind: 'each' })
    for (const texts of [['version:is:1'], ['version:is:1', 'source:is:news'], ['source:is:news', 'agent:is:']])
      expect(beside(...texts), texts.join(' ')).to.deep.equal({ kind: 'none', why: 'install_filter' })
  })

  it('gives visits seven whole days to convert', () => {
    expect(hadTimeToConvert(0, 7 * DAY_MS)).to.equal(true)
    expect(hadTimeToConvert(1, 7 * DAY_MS)).to.equal(false)
  })

  it('keeps rows that only the period before has, so that both add up', () => {
    const now = [{ row: 'value' as const, value: 'a', installs: 3, visits: { visits: 9 } }]
    const before = [
      { row: 'value' as const, value: 'b', installs: 2, visits: { visits: 4 } },
      { row: 'value' as const, value: 'a', installs: 1, visits: null },
    ]
    expect(comparedRows(now, before)).to.deep.equal([
      { row: 'value', value: 'a', installs: 3, visits: 9, before: 1 },
      { row: 'value', value: 'b', installs: 0, visits: 0, before: 2 },
    ])
  })

  it('adds up values beyond the first with what was among the others, and keeps rows that are no value', () => {
    const rows: readonly ComparedRow[] = [
      valueRow('a', 5, 1),
      valueRow('b', 4),
      valueRow('c', 3, 7),
      { row: 'no_visit', value: '', installs: 2, visits: null, before: 2 },
      { row: 'other', value: '', installs: 1, visits: 5, before: 0 },
    ]
    expect(leadingRows(rows, 2)).to.deep.equal([
      rows[0],
      rows[1],
      rows[3],
      { row: 'other', value: '', installs: 4, visits: 35, before: 7 },
    ])
    expect(leadingRows(rows.slice(0, 4), 3)).to.deep.equal(rows.slice(0, 4))
  })

  it('names the value with the greatest difference, more or less, and nothing if nothing changed', () => {
    const none = { campaign: [], source: [], landing_page: [] }
    expect(largestChange(none)).to.equal(null)
    expect(largestChange({ ...none, campaign: [valueRow('same', 9, 9)] })).to.equal(null)
    const fell = { ...none, campaign: [valueRow('up', 7, 3)], source: [valueRow('down', 0, 5)] }
    expect(largestChange(fell)).to.deep.equal({ by: 'source', value: 'down', installs: 0, before: 5 })
    const equal = { ...none, campaign: [valueRow('first', 5)], source: [valueRow('second', 5)] }
    expect(largestChange(equal)?.value).to.equal('first')
    const rest: ComparedRow = { row: 'other', value: '', installs: 90, visits: null, before: 0 }
    expect(largestChange({ ...none, campaign: [rest] })).to.equal(null)
  })

  it('takes fewer than twenty installs for few, and none for nothing', () => {
    expect([0, 1, 19, 20].map(areFew)).to.deep.equal([false, true, true, false])
  })
})
