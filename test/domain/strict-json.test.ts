/** What counts as one acceptable JSON object. */

import { expect } from 'chai'
import fc from 'fast-check'
import { parseStrictJson } from '../../domain/strict-json.ts'

const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
const members = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`

const REFUSED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['white space', ' \n'],
  ['an array', '[]'],
  ['a string', '"a"'],
  ['null', 'null'],
  ['two objects', '{}{}'],
  ['a trailing comma', '{"a":1,}'],
  ['single quotes', "{'a':1}"],
  ['a comment', '{/*x*/}'],
  ['a byte-order mark', '\uFEFF{}'],
  ['a duplicate key', '{"a":1,"a":2}'],
  ['a duplicate key behind an escape', '{"a":1,"\\u0061":2}'],
  ['a duplicate key further in', '{"x":{"a":1,"b":2,"a":3}}'],
  ['a duplicate key after a nested object', '{"a":{"b":1},"a":2}'],
  ['a duplicate key inside an array', '{"x":[{"a":1,"a":2}]}'],
  ['a duplicate key beside colons in strings', '{"a":":","b":" :","a":2}'],
  ['a duplicate key with white space behind it', '{"a" :1,"a"\n:2}'],
  ['__proto__', '{"__proto__":{}}'],
  ['__proto__ behind an escape', '{"__pr\\u006fto__":{}}'],
  ['constructor further in', '{"a":[{"constructor":1}]}'],
  ['prototype', '{"prototype":1}'],
  ['nine levels of objects', nested(9)],
  ['nine levels of arrays', `{"a":${'['.repeat(8)}${']'.repeat(8)}}`],
  ['513 members', members(513)],
  ['513 members over two levels', `{"a":${members(400)},"b":${members(111)}}`],
  ['an array of 600', `{"a":[${'1,'.repeat(599)}1]}`],
]

const ACCEPTED: readonly (readonly [string, string])[] = [
  ['an empty object', '{}'],
  ['white space around', ' {"a" : 1 } \n'],
  ['equal keys in different objects', '{"a":{"a":1},"b":{"a":1}}'],
  ['keys as values', '{"a":"a","b":"a"}'],
  ['dangerous names as values', '{"a":"__proto__"}'],
  ['marks inside strings', '{"a":"{[,:]}\\"","b":"}"}'],
  ['colons where strings begin', '{"a":":b","c":" :d","e\\":":"\\":"}'],
  ['eight levels', nested(8)],
  ['512 members', members(512)],
  ['a backslash at the end of a string', '{"a":"\\\\","b":1}'],
]

describe('a request body as strict JSON', () => {
  for (const [name, text] of REFUSED) {
    it(`refuses ${name}`, () => {
      expect(parseStrictJson(text)).to.equal(null)
    })
  }

  for (const [name, text] of ACCEPTED) {
    it(`accepts ${name}`, () => {
      expect(parseStrictJson(text)).to.deep.equal(JSON.parse(text))
    })
  }

  it('agrees with JSON.parse on everything small that has no dangerous keys and no nulls', () => {
    const small = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 })
    fc.assert(
      fc.property(small, (value) => {
        const text = JSON.stringify(value)
        fc.pre(!/__proto__|constructor|prototype|null/.test(text))
        expect(parseStrictJson(text)).to.deep.equal(JSON.parse(text))
      }),
    )
  })

  it('finds the second of two equal keys, whatever the strings beside them hold', () => {
    const marks = fc.string({ unit: fc.constantFrom(':', '"', '\\', ' ', 'a'), maxLength: 6 })
    fc.assert(
      fc.property(marks, marks, marks, fc.constantFrom('', ' ', '\n'), (key, first, second, space) => {
        const member = (value: string): string => `${JSON.stringify(key)}${space}:${JSON.stringify(value)}`
        expect(parseStrictJson(`{${member(first)}}`)).to.deep.equal({ [key]: first })
        expect(parseStrictJson(`{${member(first)},${member(second)}}`)).to.equal(null)
      }),
    )
  })

  it('never throws, whatever the text', () => {
    const pieces = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'a', '1', 'null', '\\u0061', ' ')
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const parsed = parseStrictJson(parts.join(''))
        expect(parsed === null || typeof parsed === 'object').to.equal(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it('counts null as absent at every level, except as an entry of a list', () => {
    const text = '{"a":null,"b":{"c":null,"d":1,"e":{"f":null}},"g":[null,{"h":null,"i":[[{"j":null,"k":2}]]}]}'
    expect(parseStrictJson(text)).to.deep.equal({ b: { d: 1, e: {} }, g: [null, { i: [[{ k: 2 }]] }] })
  })
})
