/** The schemas of request bodies: bounded everywhere, with patterns that no input can make slow. */

import { expect } from 'chai'
import {
  ACTIVATION_SCHEMA,
  EVENT_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  KNOWN_MEMBERS,
  VISIT_SCHEMA,
} from '../../domain/collection/schemas.ts'

interface Place {
  readonly pointer: string
  readonly schema: Record<string, any>
}

function walk(schema: Record<string, any>, pointer: string): Place[] {
  const inner: (readonly [string, Record<string, any>])[] = [
    ...Object.entries<Record<string, any>>(schema['properties'] ?? {}),
    ...(schema['anyOf'] ?? []).map((one: Record<string, any>) => ['', one] as const),
    ...['items', 'additionalProperties', 'propertyNames'].flatMap((name) =>
      typeof schema[name] === 'object' ? [[name, schema[name]] as const] : [],
    ),
  ]
  return [
    { pointer, schema },
    ...inner.flatMap(([name, one]) => walk(one, name === '' ? pointer : `${pointer}/${name}`)),
  ]
}

const SCHEMAS = { VISIT_SCHEMA, HANDOFF_VISIT_SCHEMA, HANDOFF_RECEIPT_SCHEMA, ACTIVATION_SCHEMA, EVENT_SCHEMA }
const PLACES = Object.entries(SCHEMAS).flatMap(([name, schema]) => walk(schema, name))
/** Texts that are compared or ignored and never stored; the 16 KB of a body limit them. */
const UNBOUNDED = ['/project', '/receipt', '/previous_receipt', '/handoff', '/install_path', '/test']

describe('the schemas of request bodies', () => {
  it('bound every text that may become a fact', () => {
    const open = PLACES.filter(
      ({ schema }) =>
        schema['type'] === 'string' &&
        schema['maxLength'] === undefined &&
        schema['enum'] === undefined &&
        schema['pattern'] === undefined,
    )
    expect(
      open.map(({ pointer }) => `/${pointer.split('/').at(-1)}`).filter((name) => !UNBOUNDED.includes(name)),
    ).to.deep.equal([])
  })

  it('bound every list and every object of free names', () => {
    for (const { pointer, schema } of PLACES) {
      if (schema['type'] === 'array') expect(schema['maxItems'], pointer).to.be.a('number')
      if (schema['additionalProperties'] !== undefined) expect(schema['maxProperties'], pointer).to.be.a('number')
    }
  })

  it('have patterns that are anchored, without nested or adjacent repetition', () => {
    const patterns = PLACES.flatMap(({ schema }) =>
      schema['pattern'] === undefined ? [] : [schema['pattern'] as string],
    )
    expect(patterns.length).to.be.above(2)
    for (const pattern of patterns) {
      expect(pattern).to.match(/^\^.*\$$/)
      expect(pattern.replace(/\[[^\]]*\]/g, 'x')).to.not.match(/[)*+}][*+{]|\(|\*.*\*|\+.*\+/)
    }
  })

  it('check the length of what has a pattern first', () => {
    for (const { schema } of PLACES) {
      const hasBound = schema['maxLength'] !== undefined || /\{\d+,\d+\}\$$/.test(schema['pattern'] ?? '{0,1}$')
      expect(hasBound).to.equal(true)
    }
  })

  it('require what the decisions require and nothing more', () => {
    expect((VISIT_SCHEMA as any).required).to.deep.equal(['project', 'url_id', 'page_url'])
    expect((HANDOFF_VISIT_SCHEMA as any).required).to.deep.equal(['project', 'url_id', 'page_url'])
    expect((HANDOFF_RECEIPT_SCHEMA as any).required).to.deep.equal(['project', 'receipt'])
    expect((ACTIVATION_SCHEMA as any).required).to.deep.equal(['project', 'receipt'])
    expect((EVENT_SCHEMA as any).required).to.deep.equal(['project', 'event_id', 'installation_id', 'event_type'])
    expect(PLACES.filter(({ schema }) => schema['required'] !== undefined).length).to.equal(Object.keys(SCHEMAS).length)
  })

  it('refuse no unknown member anywhere', () => {
    expect(PLACES.filter(({ schema }) => schema['additionalProperties'] === false)).to.deep.equal([])
  })

  it('name every member that an error may point to', () => {
    for (const name of ['session_id', 'utm', 'landed_at', 'receipts', 'installation_id', 'ttclid_at', 'brands']) {
      expect(KNOWN_MEMBERS.has(name), name).to.equal(true)
    }
  })
})
