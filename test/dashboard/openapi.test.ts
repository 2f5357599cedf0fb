/** The document of the dashboard's API holds every route with its role, and nothing that does not run. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'chai'

import type { RouteRow } from '../../dashboard/http/route.ts'
import { ROUTES } from '../../dashboard/routes.ts'
import { ERRORS } from '../../domain/errors.ts'

interface Operation {
  readonly operationId: string
  readonly 'x-role': string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly required?: readonly string[] } }>>
  }
  readonly responses: Readonly<Record<string, { readonly description: string }>>
}

const DOCUMENT = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/dashboard-openapi.json'), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const operations = Object.entries(DOCUMENT.paths).flatMap(([path, of]) =>
  Object.entries(of).map(([method, operation]) => ({ path, method, operation })),
)
const rows = Object.entries<RouteRow>(ROUTES)

describe("the document of the dashboard's API", () => {
  it('has as many operations as the table has routes', () => {
    expect(operations.map(({ operation }) => operation.operationId).sort()).to.deep.equal(
      rows.map(([name]) => name).sort(),
    )
  })

  const operationOf = (name: string): Operation =>
    operations.find(({ operation }) => operation.operationId === name)?.operation ?? ({} as Operation)
  const named = ({ parameters = [] }: Operation, place: string): readonly string[] =>
    parameters.filter((each) => each.in === place).map((each) => each.name)

  for (const [name, row] of rows) {
    it(`says of ${name} where it is, and who may ask for it`, () => {
      const found = operations.find(({ operation }) => operation.operationId === name)
      expect(found?.path.replaceAll(/\{(\w+)\}/g, ':$1')).to.equal(row.path)
      expect(found?.method.toUpperCase()).to.equal(row.method)
      expect(operationOf(name)['x-role']).to.equal(row.needs ?? 'nobody')
      expect(operationOf(name).security.length > 0).to.equal(row.needs !== null)
    })

    it(`says of ${name} what it takes`, () => {
      const operation = operationOf(name)
      expect(named(operation, 'path')).to.deep.equal(
        [...row.path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter),
      )
      expect(named(operation, 'query')).to.deep.equal(Object.keys(row.query ?? {}))
      const body = operation.requestBody?.content['application/json']?.schema
      expect(body?.required).to.deep.equal(row.body?.required)
    })

    it(`says of ${name} how it refuses`, () => {
      const { responses } = operationOf(name)
      const codes = Object.entries(responses).filter(([status]) => status !== '2XX')
      for (const [status, { description }] of codes)
        for (const code of description.split(', '))
          expect(ERRORS[code as keyof typeof ERRORS].status).to.equal(Number(status))
      expect('401' in responses).to.equal(row.needs !== null)
      expect('403' in responses).to.equal(row.rate !== 'callback')
    })
  }
})
