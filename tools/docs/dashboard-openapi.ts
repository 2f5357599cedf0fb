/** The OpenAPI 3.1 document of the dashboard's API, from its one table of routes: the program and the document agree. */

import { isOwnOriginOnly, isRead, refusalsOf, type RouteRow } from '../../dashboard/http/route.ts'
import { ROUTES } from '../../dashboard/routes.ts'
import { ERRORS } from '../../domain/errors.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { answerTypes, type RouteAnswer } from './answer-types.ts'

type Json = Readonly<Record<string, unknown>>

/** Routes that change a resource name the version that they saw. */
const VERSIONED: ReadonlySet<string> = new Set(['changeResource', 'removeResource'])

export function dashboardOpenApi(): Json {
  const rows = Object.entries<RouteRow>(ROUTES)
  const { answers, named } = answerTypes()
  const paths = Object.entries(Object.groupBy(rows, ([, { path }]) => templateOf(path))).map(([path, of = []]) => [
    path,
    Object.fromEntries(
      of.map(([name, row]) => [row.method.toLowerCase(), operationOf(name, row, answers.get(name) ?? [])]),
    ),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: "Whence dashboard's API",
      version: 'unstable',
      description:
        "What the dashboard's pages call, only from the service's own origin. It may change with any release; integrations use /v1/ and webhooks. Times that are numbers are Unix milliseconds. x-role is the lowest role in the organisation that is allowed; Person is anybody who is signed in.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'https://whence.example' }],
    paths: Object.fromEntries(paths) as Json,
    components: {
      schemas: { Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } }, ...named },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-session' } },
    },
  }
}

function operationOf(name: string, row: RouteRow, answers: readonly RouteAnswer[]): Json {
  const { needs, rate, summary, body } = row
  const headers = [
    ...(isOwnOriginOnly(row) && !isRead(row) ? [ORIGIN] : []),
    ...(VERSIONED.has(name) ? [IF_MATCH] : []),
  ]
  const parameters = [...pathParameters(row), ...queryParameters(row), ...headers]
  const requestBody = { required: true, content: { 'application/json': { schema: plain(body ?? { type: 'object' }) } } }
  return {
    operationId: name,
    summary,
    'x-role': needs ?? 'nobody',
    'x-rate': rate,
    security: needs === null ? [] : [{ session: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody }),
    responses: { ...successes(name, answers), ...refusals(row) },
  }
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
    schema: plain(schema),
  }))
}

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'It is there now.',
  202: 'It will be done.',
  204: 'Done; there is nothing to say.',
  303: 'The browser goes on to a page of ours.',
}

function successes(name: string, answers: readonly RouteAnswer[]): Json {
  const byStatus = Map.groupBy(answers, ({ status }) => status)
  const responses = [...byStatus].map(([status, of]): readonly [string, Json] => {
    const content = of.flatMap(({ contentType, schema }) =>
      contentType === null ? [] : [[contentType, { schema: schema ?? { type: 'string' } }] as const],
    )
    const headers = { ...(status === 303 ? LOCATION : {}), ...(hasVersion(name, status) ? ETAG : {}) }
    return [
      String(status),
      {
        description: MEANINGS[status] ?? '',
        ...(Object.keys(headers).length === 0 ? {} : { headers }),
        ...(content.length === 0 ? {} : { content: Object.fromEntries(content) }),
      },
    ]
  })
  return Object.fromEntries(responses)
}

const LOCATION = { Location: { description: 'Where to.', required: true, schema: { type: 'string' } } }
const ETAG = { ETag: { description: 'Version of the object, to be sent as If-Match.', schema: { type: 'string' } } }

/** Whether the answer shows a whole object. */
function hasVersion(name: string, status: number): boolean {
  return SHOW_OBJECTS.has(name) && status < 202
}

const SHOW_OBJECTS: ReadonlySet<string> = new Set(['createResource', 'resource', 'changeResource'])

function refusals(row: RouteRow): Json {
  const byStatus = Map.groupBy(refusalsOf(row), (code) => ERRORS[code].status)
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, of]) => [String(status), { description: of.join(', '), content }]),
  )
}

/** Without the keywords that only our validators know. */
function plain({ patternMeaning: _meaning, address: _address, items, properties, ...rest }: JsonSchema): Json {
  const { additionalProperties, propertyNames } = rest
  return {
    ...rest,
    ...(items === undefined ? {} : { items: plain(items) }),
    ...(propertyNames === undefined ? {} : { propertyNames: plain(propertyNames) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, plain(each)])) }),
    ...(rest.type !== 'object' || additionalProperties === true
      ? {}
      : { additionalProperties: additionalProperties === undefined ? false : plain(additionalProperties) }),
  }
}

/** `/api/organizations/:organization` as `/api/organizations/{organization}`. */
function templateOf(path: string): string {
  return path.replaceAll(/:([a-z]+)/gi, '{$1}')
}
