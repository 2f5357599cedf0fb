/** The OpenAPI 3.1 document of the dashboard's API, from its one table of routes: what runs is what is written. */

import type { RouteRow } from '../../dashboard/http/route.ts'
import { ROUTES } from '../../dashboard/routes.ts'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'

type Json = Readonly<Record<string, unknown>>

const EVERYWHERE: readonly ErrorCode[] = ['not_found', 'rate_limited', 'internal', 'unavailable']
const OF_BODIES: readonly ErrorCode[] = ['invalid_json', 'invalid_field', 'body_too_large', 'unsupported_media_type']
/** Routes that change a resource name the version that they saw. */
const VERSIONED: ReadonlySet<string> = new Set(['changeResource', 'removeResource'])

export function dashboardOpenApi(): Json {
  const rows = Object.entries<RouteRow>(ROUTES)
  const paths = Object.entries(Object.groupBy(rows, ([, { path }]) => templateOf(path))).map(([path, of = []]) => [
    path,
    Object.fromEntries(of.map(([name, row]) => [row.method.toLowerCase(), operationOf(name, row)])),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: "Whence dashboard's API",
      version: 'unstable',
      description:
        "What the dashboard's pages call, from the service's own origin alone. It may change with any release; integrations use /v1/ and webhooks. x-role is the least role in the organisation, Person anybody who is signed in.",
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: Object.fromEntries(paths) as Json,
    components: {
      schemas: { Error: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } } },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: '__Host-session' } },
    },
  }
}

function operationOf(name: string, row: RouteRow): Json {
  const { needs, rate, summary, body } = row
  const parameters = [...pathParameters(row), ...queryParameters(row), ...(VERSIONED.has(name) ? [IF_MATCH] : [])]
  const requestBody = { required: true, content: { 'application/json': { schema: plain(body ?? { type: 'object' }) } } }
  return {
    operationId: name,
    summary,
    'x-role': needs ?? 'nobody',
    'x-rate': rate,
    security: needs === null ? [] : [{ session: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody }),
    responses: { '2XX': { description: 'Done.' }, ...refusals(name, row) },
  }
}

const IF_MATCH = {
  ...{ name: 'If-Match', in: 'header', required: true, schema: { type: 'string' } },
  description: 'ETag of the object as it was seen.',
}

function pathParameters({ path }: RouteRow): readonly Json[] {
  return [...path.matchAll(/:([a-z]+)/gi)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }))
}

function queryParameters({ query = {} }: RouteRow): readonly Json[] {
  return Object.entries(query).map(([name, schema]) => ({
    ...{ name, in: 'query', required: false, description: schema.description, schema: plain(schema) },
  }))
}

function refusals(name: string, { needs, body, query, rate }: RouteRow): Json {
  const inOrganization = needs !== null && needs !== 'Person'
  const codes: readonly ErrorCode[] = [
    ...EVERYWHERE,
    ...(needs === null ? [] : (['unauthenticated'] as const)),
    ...(inOrganization ? (['forbidden'] as const) : []),
    ...(rate === 'callback' ? [] : (['cross_origin'] as const)),
    ...(body === undefined ? [] : OF_BODIES),
    ...(query === undefined ? [] : (['invalid_field'] as const)),
    ...(VERSIONED.has(name) ? (['conflict', 'version_required', 'managed_elsewhere'] as const) : []),
    ...(name === 'createResource' || name === 'invite' ? (['plan_limit', 'plan_required'] as const) : []),
  ]
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status)
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, of]) => [String(status), { description: of.join(', '), content }]),
  )
}

/** Without the words that only our validators know. */
function plain({ patternMeaning: _meaning, address: _address, items, properties, ...rest }: JsonSchema): Json {
  const { additionalProperties } = rest
  return {
    ...rest,
    ...(items === undefined ? {} : { items: plain(items) }),
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
