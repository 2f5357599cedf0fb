/** The document of the dashboard's API holds every route with its role, and nothing that does not run. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import { isOwnOriginOnly, isRead } from '../../dashboard/http/route.ts'
import { isFromAnywhere, refusalsOf } from '../../dashboard/api/refusals.ts'
import type { RouteRow } from '../../dashboard/api/route.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { ERRORS } from '../../domain/errors.ts'

interface AnswerSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly AnswerSchema[]
  readonly items?: AnswerSchema
  readonly properties?: Readonly<Record<string, AnswerSchema>>
  readonly additionalProperties?: AnswerSchema
}

interface OperationAnswer {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: AnswerSchema }>>
}

interface Operation {
  readonly operationId: string
  readonly 'x-role': string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly required?: readonly string[] } }>>
  }
  readonly responses: Readonly<Record<string, OperationAnswer>>
}

const DOCUMENT = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/dashboard-openapi.json'), 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, AnswerSchema>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const operations = Object.entries(DOCUMENT.paths).flatMap(([path, of]) =>
  Object.entries(of).map(([method, operation]) => ({ path, method, operation })),
)
/** What programs read with a key is in the document of the public interface. */
const rows = Object.entries<RouteRow>(ROUTES).filter(([, { needs }]) => needs !== 'Key')

/** What the API hands on as it is: specs of objects, each kind with a schema of its own in docs/resources.md. */
const HANDED_ON = /\.spec(\.\*)?$/

/** Places of a schema that say nothing of what is there. */
function vague(schema: AnswerSchema, place: string): readonly string[] {
  if (schema.$ref !== undefined || HANDED_ON.test(place)) return []
  const { type, anyOf = [], items, properties = {}, additionalProperties } = schema
  const inside = [
    ...anyOf.map((each) => [place, each] as const),
    ...(items === undefined ? [] : [[`${place}[]`, items] as const]),
    ...(additionalProperties === undefined ? [] : [[`${place}.*`, additionalProperties] as const]),
    ...Object.entries(properties).map(([name, each]) => [`${place}.${name}`, each] as const),
  ]
  const isBare = type === undefined || ['object', 'array'].some((whole) => type.includes(whole))
  return [...(isBare && inside.length === 0 ? [place] : []), ...inside.flatMap(([at, each]) => vague(each, at))]
}

describe("the document of the dashboard's API", () => {
  it('has as many operations as the table has routes', () => {
    expect(operations.map(({ operation }) => operation.operationId).sort()).to.deep.equal(
      rows.map(([name]) => name).sort(),
    )
  })

  it('gives the fields of every named type', () => {
    const schemas = Object.entries(DOCUMENT.components.schemas)
    expect(schemas.length).to.be.greaterThan(5)
    expect(schemas.flatMap(([name, schema]) => vague(schema, name))).to.deep.equal([])
  })

  const operationOf = (name: string): Operation =>
    operations.find(({ operation }) => operation.operationId === name)?.operation ?? ({} as Operation)
  const named = ({ parameters = [] }: Operation, place: string): readonly string[] =>
    parameters.filter((each) => each.in === place).map((each) => each.name)

  for (const [name, row] of rows) {
    it(`gives the address of ${name}, and who may use it`, () => {
      const found = operations.find(({ operation }) => operation.operationId === name)
      expect(found?.path.replaceAll(/\{(\w+)\}/g, ':$1')).to.equal(row.path)
      expect(found?.method.toUpperCase()).to.equal(row.method)
      expect(operationOf(name)['x-role']).to.equal(row.needs ?? 'nobody')
      expect(operationOf(name).security.length > 0).to.equal(row.needs !== null && row.needs !== 'Link')
    })

    it(`gives the parameters and body of ${name}`, () => {
      const operation = operationOf(name)
      expect(named(operation, 'path')).to.deep.equal(
        [...row.path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter),
      )
      expect(named(operation, 'query')).to.deep.equal(Object.keys(row.query ?? {}))
      const body = operation.requestBody?.content['application/json']?.schema
      expect(body?.required).to.deep.equal(row.body?.required)
    })

    it(`says whether ${name} must come from a page`, () => {
      const isFromPage = isOwnOriginOnly(row) && !isRead(row)
      expect(named(operationOf(name), 'header').includes('Origin')).to.equal(isFromPage)
    })

    it(`gives every field of the answers of ${name}`, () => {
      const { responses } = operationOf(name)
      const answers = Object.entries(responses).filter(([status]) => Number(status) < 400)
      expect(answers).to.have.length.above(0)
      for (const [status, { content }] of answers) {
        expect(content === undefined, status).to.equal(status === '204' || status === '303')
        for (const [type, { schema }] of Object.entries(content ?? {})) {
          expect(type === 'application/json' || schema.type === 'string', type).to.equal(true)
          expect(vague(schema, name)).to.deep.equal([])
        }
      }
    })

    it(`gives the refusals of ${name}`, () => {
      const { responses } = operationOf(name)
      const codes = Object.entries(responses).filter(([status]) => Number(status) >= 400)
      const all = codes.flatMap(([, { description }]) => description.split(', '))
      expect(all).to.have.members([...refusalsOf(row)])
      for (const [status, { description }] of codes)
        for (const code of description.split(', '))
          expect(ERRORS[code as keyof typeof ERRORS].status).to.equal(Number(status))
      expect('401' in responses).to.equal(row.needs !== null && row.needs !== 'Link')
      expect('403' in responses).to.equal(!isFromAnywhere(row.rate))
    })
  }
})
