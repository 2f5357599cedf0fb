/** The order of the rows of Sources: by every column and direction, in the address, with rows that are no value at the foot. */

import { expect } from 'chai'

import { nextOrder, orderedRows, sourceOrder } from '../../pages/figures/source-order.ts'

const row = (value: string, installs: number, visits: number | null, trend: readonly number[] = []) => ({
  row: value === '' ? ('direct' as const) : ('value' as const),
  value,
  installs,
  trend,
  visits: visits === null ? null : { visits, copied: visits / 2, converted: 1 },
})
const ROWS = [
  row('b', 5, 10, [4, 0, 1]),
  { ...row('', 90, 90), row: 'no_visit' as const },
  row('a', 9, 2, [0, 0, 9]),
  row('', 70, 80),
  row('c', 1, null, [1, 0, 0]),
]
const names = (search: object): string => {
  const rows = orderedRows(ROWS, sourceOrder({ ...search }))
  return rows.map(({ row: kind, value }) => (kind === 'value' ? value : kind)).join(' ')
}

describe('the order of Sources', () => {
  it('is by any column in either direction; what cannot be compared comes last, and what is no value at the foot', () => {
    const foot = 'direct no_visit'
    expect(names({})).to.equal(`a b c ${foot}`)
    expect(names({ order: 'up' })).to.equal(`c b a ${foot}`)
    expect(names({ sort: 'name' })).to.equal(`a b c ${foot}`)
    expect(names({ sort: 'name', order: 'down' })).to.equal(`c b a ${foot}`)
    expect(names({ sort: 'visits' })).to.equal(`b a c ${foot}`)
    expect(names({ sort: 'visits', order: 'up' })).to.equal(`a b c ${foot}`)
    expect(names({ sort: 'conversion' })).to.equal(`a b c ${foot}`)
    expect(names({ sort: 'trend' })).to.equal(`a c b ${foot}`)
  })

  it('is left out of the address if it is the usual one, and turns with a second click', () => {
    expect(sourceOrder({ sort: 'installs', order: 'down' })).to.deep.equal({})
    expect(sourceOrder({ sort: 'colour', order: 'round' })).to.deep.equal({})
    expect(nextOrder({}, 'installs')).to.deep.equal({ order: 'up' })
    expect(nextOrder({ order: 'up' }, 'installs')).to.deep.equal({})
    expect(nextOrder({}, 'name')).to.deep.equal({ sort: 'name' })
    expect(nextOrder({ sort: 'name' }, 'name')).to.deep.equal({ sort: 'name', order: 'down' })
    expect(nextOrder({ sort: 'name' }, 'visits')).to.deep.equal({ sort: 'visits' })
  })
})
