import assert from 'node:assert/strict'

import { indexText, readIndex, UnreadableCatalog } from '../../domain/published/index.ts'

const INDEX = {
  number: 1,
  rights: '',
  version: 'v',
  parts: [],
  credentials: { ga4: [{ slot: 'a', digest: 'd' }] },
} as const

describe('the index of a published catalog', () => {
  it('is read as it was written', () => assert.deepEqual(readIndex(indexText(INDEX)), INDEX))

  for (const [what, credentials] of [
    ['null', null],
    ['a list of null', { ga4: [null] }],
    ['an entry of another slot', { ga4: [{ slot: 'c', digest: 'd' }] }],
  ] as const) {
    it(`is refused with ${what} in the place of credentials`, () => {
      const text = JSON.stringify({ ...INDEX, minReader: 1, credentials })
      assert.throws(() => readIndex(text), UnreadableCatalog)
    })
  }
})
