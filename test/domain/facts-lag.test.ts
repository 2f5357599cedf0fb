/** Whether the facts have caught up with the log, from the offsets of each partition. */

import { expect } from 'chai'

import { firstKnownEnds, hasReached, UNKNOWN_ENDS, type Offsets } from '../../domain/collection/facts-lag.ts'

describe('the facts', () => {
  const CASES: readonly [string, Offsets, Offsets, boolean][] = [
    ['have caught up at the end of each partition', [3, 5], [3, 5], true],
    ['have caught up beyond ends that were read before', [4, 9], [3, 5], true],
    ['are behind in one partition of several', [3, 4], [3, 5], false],
    ['are behind if the end of a partition is not known', [3, 5], [3, null], false],
    ['are behind if the end of the only partition is not known', [3], UNKNOWN_ENDS, false],
    ['are behind if their position in a partition is not known', [3, null], [3, 5], false],
    ['are behind if they have no position in a partition', [3], [3, 5], false],
    ['have caught up with a partition that never held anything', [3, null], [3, 0], true],
    ['have caught up with such a partition without a position', [3], [3, 0], true],
    ['are behind if nothing is known of the topic', [], [], false],
    ['do not make up for one partition with another', [9, 4], [3, 5], false],
  ]
  for (const [what, done, ends, isReached] of CASES)
    it(what, () => {
      expect(hasReached(done, ends)).to.equal(isReached)
    })
})

describe('the ends that an event waits for', () => {
  const CASES: readonly [string, Offsets, Offsets, Offsets][] = [
    ['stay as they were noted first', [3, 5], [8, 9], [3, 5]],
    ['are read later where they were not known', [3, null], [8, 9], [3, 9]],
    ['stay unknown as long as nobody knows them', [3, null], [8, null], [3, null]],
    ['include a partition that was not seen first', [3], [8, 9], [3, 9]],
    ['include a partition that is not seen any more', [3, 5], [8], [3, 5]],
    ['are those of now if nothing was noted', [], [8, 9], [8, 9]],
  ]
  for (const [what, noted, later, expected] of CASES)
    it(what, () => {
      expect(firstKnownEnds(noted, later)).to.deep.equal(expected)
    })
})
