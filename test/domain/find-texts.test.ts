import { expect } from 'chai'
import fc from 'fast-check'
import { finderOf } from '../../domain/privacy/find-texts.ts'

describe('finding many texts at once', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f680}'), minLength: 1, maxLength: 6 })

  it('covers exactly the characters that looking for each of them alone covers', () => {
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 }),
        (wanted, text) => {
          const covered = new Set<number>()
          for (const each of wanted) {
            for (let at = text.indexOf(each); at !== -1; at = text.indexOf(each, at + 1)) {
              for (let index = at; index < at + each.length; index++) covered.add(index)
            }
          }
          const found = finderOf(wanted)(text)
          const places = found.flatMap(({ start, end }) =>
            Array.from({ length: end - start }, (_, index) => start + index),
          )
          expect(places).to.deep.equal([...covered].sort((one, other) => one - other))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('separates matches that only touch, and merges those that overlap', () => {
    const find = finderOf(['abc', 'cde', 'ab'])
    expect(find('ab abcabc abcde')).to.deep.equal([
      { start: 0, end: 2 },
      { start: 3, end: 6 },
      { start: 6, end: 9 },
      { start: 10, end: 15 },
    ])
    expect(finderOf([])('abc')).to.deep.equal([])
  })
})
