/** The definitions as data: every field is described, for `kubectl explain`. */

import { expect } from 'chai'

import { customResourceDefinition } from '../../domain/resources/crd.ts'
import { RESOURCE_KINDS } from '../../domain/resources/resources.ts'

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
}

function withoutWords(schema: Schema, path: string): readonly string[] {
  const { properties = {}, items, additionalProperties } = schema
  const inner = [
    ...Object.entries(properties).map(([name, member]) => [member, `${path}.${name}`] as const),
    ...(items === undefined ? [] : [[items, `${path}[]`] as const]),
    ...(additionalProperties === undefined ? [] : [[additionalProperties, `${path}.*`] as const]),
  ]
  const isServers = /^\w+\.metadata$/.test(path)
  const own = isServers || (schema.description ?? '').length > 5 ? [] : [path]
  return [...own, ...inner.flatMap(([member, at]) => withoutWords(member, at))]
}

describe('the definitions', () => {
  for (const kind of RESOURCE_KINDS) {
    it(`describe every field of ${kind}`, () => {
      const { versions } = customResourceDefinition(kind, (text) => text)['spec'] as {
        readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }]
      }
      expect(withoutWords(versions[0].schema.openAPIV3Schema, kind)).to.deep.equal([])
    })
  }
})
