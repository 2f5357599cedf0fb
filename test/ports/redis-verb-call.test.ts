/** What a client sends to Redis for the verbs of a turn, byte by byte. */

import { expect } from 'chai'

import { encodeVerbCalls } from '../../ports/hot-state/redis/verb-call.ts'

describe('a call of Redis', () => {
  it('has every verb with its arguments behind each other: texts in UTF-8, numbers in decimal digits, bytes as they are', () => {
    const calls = [
      { name: 'probe', args: ['', 17] },
      { name: 'x', args: ['ü', Buffer.from([0, 255])] },
    ]
    const expected = [
      [5, ...Buffer.from('probe'), 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, ...Buffer.from('17')],
      [1, ...Buffer.from('x'), 0, 2, 0, 0, 0, 2, 0xc3, 0xbc, 0, 0, 0, 2, 0, 255],
    ]
    expect([...encodeVerbCalls(calls)]).to.deep.equal(expected.flat())
  })

  it('has texts of every length whole, whatever their characters', () => {
    for (const character of ['a', 'ü', '€', '😀']) {
      for (const length of [1, 16, 31, 32, 33, 400]) {
        const text = `${'x'.repeat(length - 1)}${character}`
        const bytes = Buffer.from(text)
        const head = [5, ...Buffer.from('probe'), 0, 1, 0, 0, bytes.length >> 8, bytes.length & 255]
        expect([...encodeVerbCalls([{ name: 'probe', args: [text] }])], text).to.deep.equal([...head, ...bytes])
      }
    }
  })

  it('has nothing for no verb', () => {
    expect(encodeVerbCalls([])).to.have.lengthOf(0)
  })
})
