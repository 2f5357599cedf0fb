/** Work in slices: the same items, and others get their turn in between. */

import { expect } from 'chai'

import { IN_BACKGROUND, sliced } from '../../common/sliced.ts'

function busyFor(ms: number): void {
  for (const endsAtMs = performance.now() + ms; performance.now() < endsAtMs;);
}

/** Counts turns of the event loop until it is stopped. */
function countTurns(): { readonly turns: () => number; readonly stop: () => void } {
  let turns = 0
  let isOver = false
  const others = (): void => {
    turns += 1
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  return { turns: () => turns, stop: () => void (isOver = true) }
}

describe('work in slices', () => {
  it('has the same items in their order', async () => {
    const seen: number[] = []
    for await (const item of sliced([3, 1, 2])) seen.push(item)
    expect(seen).to.deep.equal([3, 1, 2])
  })

  it('lets others run after each long item, and not after each short one', async () => {
    const others = countTurns()
    for await (const item of sliced([1, 2, 3, 4])) busyFor(item === 4 ? 0 : 3)
    expect(others.turns()).to.be.at.least(3)
    const before = others.turns()
    for await (const item of sliced([1, 2, 3, 4])) expect(item).to.be.within(1, 4)
    expect(others.turns() - before).to.be.at.most(1)
    others.stop()
  })

  it('leaves others many turns after each slice if nobody waits for it', async () => {
    const others = countTurns()
    const turnsBefore: number[] = []
    const items = Array.from({ length: 200 }, () => 1)
    for await (const item of sliced(items, IN_BACKGROUND)) {
      turnsBefore.push(others.turns())
      busyFor(item)
    }
    others.stop()
    expect(turnsBefore).to.have.length(items.length)
    const turns = turnsBefore.slice(1).map((after, index) => after - (turnsBefore[index] ?? 0))
    expect(Math.min(...turns)).to.be.at.least(1)
    // A busy machine has few turns in some of the rests; without rests there is one each time.
    expect(Math.max(...turns)).to.be.above(10)
  })
})
