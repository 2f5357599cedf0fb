import assert from 'node:assert/strict'

import {
  isNumber,
  isText,
  isWhole,
  listOf,
  mapOf,
  isOneOf,
  orAbsent,
  orNull,
  parsedAs,
  shapeOf,
} from '../../domain/guards.ts'

interface Known {
  readonly name: string
  readonly count?: number
  readonly parts: readonly string[]
}

const isKnown = shapeOf<Known>({ name: isText, count: orAbsent(isNumber), parts: listOf(isText) })

describe('checks of values from outside', () => {
  it('accept a value that has every member, and more', () => {
    assert.equal(isKnown({ name: 'a', parts: [] }), true)
    assert.equal(isKnown({ name: 'a', count: 1, parts: ['b'], more: null }), true)
  })

  for (const [why, value] of [
    ['a member is missing', { name: 'a' }],
    ['a member is of another kind', { name: 1, parts: [] }],
    ['an optional member is of another kind', { name: 'a', count: '1', parts: [] }],
    ['an optional member is null', { name: 'a', count: null, parts: [] }],
    ['an entry of a list is of another kind', { name: 'a', parts: ['b', 2] }],
    ['it is a list', []],
    ['it is null', null],
    ['it is text', 'a'],
  ] as const) {
    it(`refuse a value if ${why}`, () => assert.equal(isKnown(value), false))
  }

  it('count neither infinity nor a text as a number, and no fraction as whole', () => {
    assert.deepEqual([1.5, Infinity, NaN, '1'].map(isNumber), [true, false, false, false])
    assert.deepEqual([1, 1.5, 2 ** 53].map(isWhole), [true, false, false])
  })

  it('know the values of a list, members of one kind, and null', () => {
    assert.deepEqual(['a', 'c', null].map(isOneOf(['a', 'b'])), [true, false, false])
    assert.deepEqual([{ a: 'b' }, {}, { a: 1 }, ['a']].map(mapOf(isText)), [true, true, false, false])
    assert.deepEqual([null, 'a', undefined].map(orNull(isText)), [true, true, false])
  })

  it('read JSON of the right shape alone', () => {
    assert.deepEqual(parsedAs(isKnown, '{"name":"a","parts":["b"]}'), { name: 'a', parts: ['b'] })
    assert.equal(parsedAs(isKnown, '{"name":"a"}'), null)
    assert.equal(parsedAs(isKnown, '{"name":'), null)
  })
})
