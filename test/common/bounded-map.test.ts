/** A bounded map forgets what was written first, and nothing before it must. */

import { expect } from 'chai'

import { BoundedMap } from '../../common/bounded-map.ts'

describe('a bounded map', () => {
  const filled = () => {
    const map = new BoundedMap<string, number>(3)
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index)
    return map
  }

  it('forgets the oldest only above its limit', () => {
    const map = filled()
    expect([...map.entries()]).to.deep.equal([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ])
    map.set('d', 3)
    expect([...map.entries()].map(([key]) => key)).to.deep.equal(['b', 'c', 'd'])
    expect(map.has('a')).to.equal(false)
    expect(map.size).to.equal(3)
  })

  it('takes what is written again for the newest, and not what is read', () => {
    const map = filled()
    map.set('a', 9)
    expect(map.get('b')).to.equal(1)
    map.set('d', 3)
    expect([...map.entries()].map(([key]) => key)).to.deep.equal(['c', 'a', 'd'])
    expect(map.get('a')).to.equal(9)
  })

  it('has room again for what was deleted', () => {
    const map = filled()
    expect(map.delete('b')).to.equal(true)
    map.set('d', 3)
    expect([...map.entries()].map(([key]) => key)).to.deep.equal(['a', 'c', 'd'])
  })

  it('forgets in the order of writing through thousands of writes and deletions, also after it was empty', () => {
    const limit = 50
    const map = new BoundedMap<number, number>(limit)
    let model: number[] = []
    let state = 7
    const draw = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((state / 2_147_483_648) * below)
    }
    for (let round = 0; round < 20_000; round++) {
      const key = draw(120)
      const isEmptied = round % 1_000 === 999
      const gone = isEmptied ? model : draw(4) === 0 ? [key] : []
      for (const each of gone) map.delete(each)
      model = model.filter((each) => !gone.includes(each))
      if (gone.length > 0) continue
      map.set(key, round)
      model = [...model.filter((each) => each !== key), key].slice(-limit)
      expect([...map.entries()].map(([each]) => each)).to.deep.equal(model)
    }
  })
})
