/** The schema checker against ajv, which knows all of JSON Schema, and its messages for typical mistakes. */

import { Ajv } from 'ajv'
import { expect } from 'chai'
import fc from 'fast-check'

import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { checkSchema, closestName } from '../../domain/schema/json-schema.ts'
import { SECRET_KEY_SCHEMA } from '../../domain/resources/envelope.ts'
import { RESOURCE_KINDS, SPEC_SCHEMAS } from '../../domain/resources/resources.ts'

/** Ours refuse unknown members by themselves; in JSON Schema that has to be said. */
function strict(schema: JsonSchema): object {
  const { properties, items, additionalProperties, patternMeaning: _, address: _kind, ...rest } = schema
  return {
    ...rest,
    ...(items === undefined ? {} : { items: strict(items) }),
    ...(schema.type !== 'object'
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties ?? {}).map(([name, member]) => [name, strict(member)]),
          ),
          additionalProperties:
            additionalProperties === undefined ? false : additionalProperties === true || strict(additionalProperties),
        }),
  }
}

/** Values that fit a schema, or come close to it. */
function around(schema: JsonSchema): fc.Arbitrary<unknown> {
  const wrong = fc.oneof(
    fc.constant(null),
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.constant([]),
    fc.constant({}),
    fc.double(),
  )
  return fc.oneof({ weight: 60, arbitrary: close(schema) }, { weight: 1, arbitrary: wrong })
}

function close(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined)
    return fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...schema.enum) }, fc.string())
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'integer') return fc.integer({ min: (schema.minimum ?? 0) - 2, max: (schema.maximum ?? 10) + 2 })
  if (schema.type === 'array') return fc.array(around(schema.items ?? { type: 'string' }), { maxLength: 5 })
  if (schema.type === 'object') {
    const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, around(member)] as const)
    const model = Object.fromEntries(members)
    const known = fc.record(model, { requiredKeys: (schema.required ?? []) as string[] })
    const more = fc.oneof(
      { weight: 20, arbitrary: fc.constant({}) },
      fc.dictionary(fc.string(), fc.string(), { maxKeys: 1 }),
    )
    return fc.tuple(known, more).map(([base, extra]) => ({ ...base, ...extra }))
  }
  return closeText(schema)
}

function closeText({ pattern, maxLength }: JsonSchema): fc.Arbitrary<string> {
  const most = Math.min(maxLength ?? 10, 90)
  const text = fc.string({ maxLength: most + 1, unit: 'grapheme' })
  if (pattern === undefined) return text
  const fitting = fc.stringMatching(new RegExp(pattern)).map((match) => match.slice(0, most))
  return fc.oneof({ weight: 20, arbitrary: fitting }, text)
}

describe('checkSchema', () => {
  const ajv = new Ajv({ strict: true, allErrors: true })
  for (const kind of RESOURCE_KINDS) {
    it(`agrees with ajv about every ${kind}`, () => {
      const schema = SPEC_SCHEMAS[kind]
      const validate = ajv.compile(strict(schema))
      let accepted = 0
      fc.assert(
        fc.property(around(schema), (value) => {
          const isValid = validate(value)
          accepted += isValid ? 1 : 0
          expect(checkSchema(schema, value).length === 0, JSON.stringify(value)).to.equal(isValid)
        }),
        { numRuns: 600 },
      )
      expect(accepted, 'values that fit must be among the samples').to.be.greaterThan(0)
    })
  }

  it('agrees with ajv about how many members there are, and what they are called', () => {
    const { patternMeaning: _, ...propertyNames } = SECRET_KEY_SCHEMA
    const map: JsonSchema = {
      type: 'object',
      minProperties: 1,
      maxProperties: 3,
      additionalProperties: { type: 'string' },
    }
    const validate = ajv.compile({ ...map, propertyNames })
    const name = fc.oneof(fc.stringMatching(/^[-._a-zA-Z0-9]{0,4}$/), fc.string({ maxLength: 4 }))
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(fc.dictionary(name, fc.string(), { maxKeys: 4 }), (value) => {
        const isValid = validate(value)
        seen.add(isValid)
        const findings = checkSchema({ ...map, propertyNames: SECRET_KEY_SCHEMA }, value)
        expect(findings.length === 0, JSON.stringify(value)).to.equal(isValid)
      }),
      { numRuns: 2_000 },
    )
    expect([...seen]).to.have.members([true, false])
  })

  it('points to the member and reports no more findings than people can use', () => {
    const schema: JsonSchema = { type: 'object', properties: { 'a/b': { type: 'object', properties: {} } } }
    expect(checkSchema(schema, { 'a/b': { 'c~d': 1 } })[0]?.field).to.equal('/a~1b/c~0d')
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`x${index}`, 1]))
    expect(checkSchema(schema, many).length).to.equal(50)
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
