/** The OpenAPI 3.1 document of the dashboard's API, from the declarations of its routes: the program and the document agree. */

import { refusalsOf } from '../../dashboard/api/refusals.ts'
import type { RouteRow } from '../../dashboard/api/route.ts'
import { ROUTES } from '../../dashboard/api/routes.ts'
import { isOwnOriginOnly, isRead } from '../../dashboard/http/route.ts'
import { ERRORS } from '../../domain/errors.ts'
import { isObject } from '../../domain/strict-json.ts'

type Json = Readonly<Record<string, unknown>>

export function dashboardOpenApi(): Json {
  // What programs read with a key is public, and in the document of the public interface.
  const rows = Object.entries<RouteRow>(ROUTES).filter(([, { needs }]) => needs !== 'Key')
  const named = new Map<string, Json>()
  const paths = Object.entries(Object.groupBy(rows, ([, { path }]) => templateOf(path))).map(([path, of = []]) => [
    path,
    Object.fromEntries(of.map(([name, row]) => [row.method.toLowerCase(), operationOf(name, row, named)])),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: "Whence dashboard's API",
      version: 'unstable',
      description:
        "What the dashboard's pages call, only from the service's own origin. It may change with any release; integrations use /v1/ and webhooks. Times that are numbers are Unix milliseconds. x-role is the lowest role in the organisation that is allowed; Person is anybody who is signed in, and Link whoever has the address of a share link.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'https://whence.example' }],
    paths: Object.fromEntries(paths) as Json,
    components: {
      schemas: {
        Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
        ...Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
      },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-session' } },
    },
  }
}

function operationOf(name: string, row: RouteRow, named: Map<string, Json>): Json {
  const { needs, rate, summary } = row
  const headers = [
    ...(isOwnOriginOnly(row) && !isRead(row) ? [ORIGIN] : []),
    ...(row.versions?.includes('seen') === true ? [IF_MATCH] : []),
  ]
  const parameters = [...pathParameters(row), ...queryParameters(row), ...headers]
  const content = sentContent(row)
  return {
    operationId: name,
    summary,
    'x-role': needs ?? 'nobody',
    'x-rate': rate,
    security: needs === null || needs === 'Link' ? [] : [{ session: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === null ? {} : { requestBody: { required: true, content } }),
    responses: { ...successes(row, named), ...refusals(row) },
  }
}

function sentContent({ body, upload }: RouteRow): Json | null {
  if (upload !== undefined) return { [upload.type]: { schema: { type: 'string' } } }
  return body === undefined ? null : { 'application/json': { schema: closed(body) } }
}

const ORIGIN = {
  name: 'Origin',
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description: "The service's own origin. Browsers send it automatically.",
}

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description: 'ETag of the object as it was seen.',
}

function pathParameters({ path }: RouteRow): readonly Json[] {
  return [...path.matchAll(/:([a-z]+)/gi)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters({ query = {} }: RouteRow): readonly Json[] {
  return Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    description: schema.description,
    schema: closed(schema),
  }))
}

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'It is there now.',
  202: 'It will be done.',
  204: 'Done; there is nothing to say.',
  303: 'The browser goes on to a page of ours.',
}

function successes({ answers, versions = [] }: RouteRow, named: Map<string, Json>): Json {
  const isGiven = versions.includes('given')
  const responses = Object.entries(answers).map(([text, declared]): readonly [string, Json] => {
    const status = Number(text)
    const content = contentOf(declared, named)
    const headers = { ...(status === 303 ? LOCATION : {}), ...(isGiven && status < 202 ? ETAG : {}) }
    return [
      text,
      {
        description: MEANINGS[status] ?? '',
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
        ...(content === null ? {} : { content }),
      },
    ]
  })
  return Object.fromEntries(responses)
}

function contentOf(declared: RouteRow['answers'][200], named: Map<string, Json>): Json | null {
  if (declared === null || declared === undefined) return null
  if (Array.isArray(declared))
    return Object.fromEntries(declared.map((type: string) => [type, { schema: { type: 'string' } }]))
  return { 'application/json': { schema: withReferences(declared, named) } }
}

/** Schemas that have a name become components, to which the others refer. */
function withReferences(value: unknown, named: Map<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((each) => withReferences(each, named))
  if (!isObject(value)) return value
  const { $id, ...own } = value
  const schema = Object.fromEntries(Object.entries(own).map(([name, each]) => [name, withReferences(each, named)]))
  if (typeof $id !== 'string') return schema
  named.set($id, schema)
  return { $ref: `#/components/schemas/${$id}` }
}

const LOCATION = { Location: { description: 'Where to.', required: true, schema: { type: 'string' } } }
const ETAG = { ETag: { description: 'Version of the object, to be sent as If-Match.', schema: { type: 'string' } } }

function refusals(row: RouteRow): Json {
  const byStatus = Map.groupBy(refusalsOf(row), (code) => ERRORS[code].status)
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, of]) => [String(status), { description: of.join(', '), content }]),
  )
}

/** A schema of what is sent to us, without the keywords that only our validator knows. It refuses unknown members unless it says otherwise. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (!isObject(value)) return value
  const { patternMeaning: _meaning, address: _address, ...rest } = value
  const schema = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, closed(each)]))
  const isOpen = schema['type'] !== 'object' || 'additionalProperties' in schema
  return isOpen ? schema : { ...schema, additionalProperties: false }
}

/** `/api/organizations/:organization` as `/api/organizations/{organization}`. */
function templateOf(path: string): string {
  return path.replaceAll(/:([a-z]+)/gi, '{$1}')
}
