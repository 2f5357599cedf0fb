/** What is found in values that do not fit their schema, in which order and in which words. */

import { expect } from 'chai'

import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { checkSchema } from '../../domain/schema/check-schema.ts'
import { closestName } from '../../domain/schema/closest-name.ts'
import { SECRET_KEY_SCHEMA } from '../../domain/resources/envelope.ts'

describe('checkSchema', () => {
  it('points to the member and reports no more findings than people can use', () => {
    const schema: JsonSchema = { type: 'object', properties: { 'a/b': { type: 'object', properties: {} } } }
    expect(checkSchema(schema, { 'a/b': { 'c~d': 1 } })[0]?.field).to.equal('/a~1b/c~0d')
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 1]))
    expect(checkSchema(schema, many).length).to.equal(50)
  })

  it('tells findings in the order of the document, unknown members before missing ones, and one of a value', () => {
    const schema: JsonSchema = {
      type: 'object',
      minProperties: 9,
      properties: {
        name: { type: 'string', minLength: 2, pattern: '^[a-z]+$', patternMeaning: 'must be letters' },
        size: { type: 'integer', minimum: 3 },
        list: { type: 'array', minItems: 3, uniqueItems: true, items: { type: 'string', maxLength: 1 } },
      },
      required: ['missing', 'name'],
    }
    const value = { list: ['a', 'a', 'bcd', 1].slice(0, 2), siez: 1, size: 1, name: 'A' }
    expect(checkSchema(schema, value).map(({ field, message }) => `${field} ${message}`)).to.deep.equal([
      '/list needs at least 3 entries',
      '/list has an entry twice',
      '/siez is not a field here; did you mean size?',
      '/size 1 is below 3',
      '/name is shorter than 2 characters',
      ' needs at least 9 entries',
      '/missing is missing',
    ])
    expect(checkSchema(schema, { list: ['a', 'bcd', 1] }).map(({ message }) => message)[0]).to.equal(
      'has 3 characters, more than 1',
    )
  })

  it('counts what the members of a map are called', () => {
    const map: JsonSchema = {
      type: 'object',
      maxProperties: 2,
      propertyNames: SECRET_KEY_SCHEMA,
      additionalProperties: { type: 'string' },
    }
    expect(
      checkSchema(map, { fits: 'a', 'has space': 1 }).map(({ field, message }) => `${field}: ${message}`),
    ).to.deep.equal(['/has space: must be a text: put it in quotes', `: key 2 ${SECRET_KEY_SCHEMA.patternMeaning}`])
    expect(checkSchema(map, { 'a ': '', 'b ': '', 'c ': '' }).map(({ message }) => message)).to.deep.equal([
      'has 3 entries, more than 2',
    ])
  })

  it('tells of a whole number what it is', () => {
    const count: JsonSchema = { type: 'integer' }
    expect([2 ** 53, 1.5, '1'].map((value) => checkSchema(count, value)[0]?.message)).to.deep.equal([
      'must be a whole number, not 9007199254740992',
      'must be a whole number, not 1.5',
      'must be a whole number: remove the quotes',
    ])
  })

  it('treats inherited names as unknown members', () => {
    const schema: JsonSchema = { type: 'object', properties: {}, required: ['constructor'] }
    expect(checkSchema(schema, {}).map(({ kind }) => kind)).to.deep.equal(['missing'])
    expect(checkSchema({ type: 'object', properties: {} }, JSON.parse('{"__proto__":1}'))).to.have.length(1)
  })

  it('refuses a text that no file can hold, and takes every other one', () => {
    for (const half of ['\ud800', 'a\udfffb', '\ude00\ud83d'])
      expect(checkSchema({ type: 'string' }, half)[0]?.message, JSON.stringify(half)).to.equal(
        'has half of a character',
      )
    for (const whole of ['', '\u{1f600}', '\ufffd'])
      expect(checkSchema({ type: 'string' }, whole), whole).to.deep.equal([])
  })

  it('repeats a text only if it had to be one of a few short words', () => {
    const text: JsonSchema = { type: 'string', pattern: '^[a-z]+$', maxLength: 3 }
    expect(JSON.stringify(checkSchema(text, 'HUNTER2'))).not.to.contain('HUNTER2')
    const choice: JsonSchema = { type: 'string', enum: ['Free'] }
    expect(checkSchema(choice, 'free')[0]?.message).to.equal('"free" is not one of Free; did you mean Free?')
    expect(checkSchema(choice, 'x'.repeat(100))[0]?.message).to.equal('this value is not one of Free')
  })
})

describe('closestName', () => {
  const NAMES = ['displayName', 'primaryOrigin', 'retentionDays', 'pages', 'id', 'paused']
  const MEANT: readonly (readonly [string, string | null])[] = [
    ['display_name', 'displayName'],
    ['DisplayName', 'displayName'],
    ['pagse', 'pages'],
    ['page', 'pages'],
    ['retention', 'retentionDays'],
    ['primaryOrgin', 'primaryOrigin'],
    ['ID', 'id'],
    ['colour', null],
    ['', null],
  ]
  for (const [name, meant] of MEANT) {
    it(`reads ${JSON.stringify(name)} as ${meant ?? 'nothing known'}`, () =>
      expect(closestName(name, NAMES)).to.equal(meant))
  }
})
