/** Work in slices: the same items, and others get their turn in between. */

import { expect } from 'chai'

import { IN_BACKGROUND, sliced } from '../../common/sliced.ts'

function busyFor(ms: number): void {
  for (const endsAtMs = performance.now() + ms; performance.now() < endsAtMs;);
}

describe('work in slices', () => {
  it('has the same items in their order', async () => {
    const seen: number[] = []
    for await (const item of sliced([3, 1, 2])) seen.push(item)
    expect(seen).to.deep.equal([3, 1, 2])
  })

  it('lets others run after each long item, and not after each short one', async () => {
    let [turns, isOver] = [0, false]
    const others = (): void => {
      turns += 1
      if (!isOver) setImmediate(others)
    }
    setImmediate(others)
    for await (const item of sliced([1, 2, 3, 4])) busyFor(item === 4 ? 0 : 3)
    expect(turns).to.be.at.least(3)
    const before = turns
    for await (const item of sliced([1, 2, 3, 4])) expect(item).to.be.within(1, 4)
    expect(turns - before).to.be.at.most(1)
    isOver = true
  })

  it('leaves others many turns after each slice if nobody waits for it', async () => {
    let [turns, isOver] = [0, false]
    const others = (): void => {
      turns += 1
      if (!isOver) setImmediate(others)
    }
    setImmediate(others)
    const turnsBefore: number[] = []
    for await (const item of sliced([1, 2, 3, 4], IN_BACKGROUND)) {
      turnsBefore.push(turns)
      busyFor(item)
    }
    isOver = true
    expect(turnsBefore).to.have.length(4)
    for (const [index, before] of turnsBefore.slice(0, -1).entries())
      expect((turnsBefore[index + 1] ?? 0) - before, `after item ${index + 1}`).to.be.above(10)
  })
})
