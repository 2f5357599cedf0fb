/** Filters of figures as text: each is read as it was printed, and what is too much or unknown is refused. */

import { expect } from 'chai'
import fc from 'fast-check'

import { areFilters, FILTER_OPERATORS, textOfFilter, readFilters } from '../../domain/figures/filters.ts'
import { INSTALLS_BY } from '../../domain/figures/installs.ts'
import { LIMITS } from '../../domain/limits.ts'

const filter = fc
  .record({
    dimension: fc.constantFrom(...INSTALLS_BY),
    op: fc.constantFrom(...FILTER_OPERATORS),
    values: fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', ',', '\\', ':', '💡', ' '), maxLength: 9 }), {
      minLength: 1,
      maxLength: 5,
    }),
  })
  .filter(({ op, values }) => op !== 'contains' || !values.includes(''))

describe('a filter of figures', () => {
  it('is read as it was printed, whatever its values hold', () => {
    fc.assert(
      fc.property(filter, (each) => {
        expect(readFilters([textOfFilter(each)])).to.deep.equal([each])
      }),
    )
  })

  it('has its values between commas, an empty one for what has none', () => {
    expect(readFilters(['source:is:', String.raw`page:contains:a\,b,c:d`, 'version:is_not:2,,2'])).to.deep.equal([
      { dimension: 'source', op: 'is', values: [''] },
      { dimension: 'page', op: 'contains', values: ['a,b', 'c:d'] },
      { dimension: 'version', op: 'is_not', values: ['2', ''] },
    ])
    expect(readFilters()).to.deep.equal([])
  })

  it('is refused if it is not of this form, or too large', () => {
    const many = (count: number): string => Array.from({ length: count }, (_, value) => value).join(',')
    const refused = [
      ['colour:is:red'],
      ['source'],
      ['source:is'],
      ['source:like:a'],
      ['source:contains:'],
      ['source:contains:a,'],
      ['source:is:a', 'source:is:b'],
      [`source:is:${'💡'.repeat(LIMITS.figureFilterChars + 1)}`],
      [`source:is:${many(LIMITS.figureFilterValues + 1)}`],
      INSTALLS_BY.slice(0, LIMITS.figureFilters + 1).map((dimension) => `${dimension}:is:`),
    ]
    for (const texts of refused) {
      const read = readFilters(texts)
      expect(areFilters(read) ? null : [read.code, read.extra?.['field']], texts[0]).to.deep.equal([
        'invalid_field',
        '/filter',
      ])
    }
    const most = [`source:is:${'💡'.repeat(LIMITS.figureFilterChars)},${many(LIMITS.figureFilterValues - 1)}`]
    expect(areFilters(readFilters(most))).to.equal(true)
  })
})
