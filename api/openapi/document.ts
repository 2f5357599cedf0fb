/** The OpenAPI 3.1 document of the public interface, made from the schemas that validate requests and the table of codes. */

import { objectOf } from '../../domain/strict-json.ts'
import { ERRORS, type ErrorCode } from '../../domain/errors.ts'
import {
  ACTIVATION_SCHEMA,
  EVENT_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  VISIT_SCHEMA,
} from '../../domain/collection/schemas.ts'
import {
  COLLECTED,
  FILED,
  headerComponents,
  answerHeaders,
  IF_NONE_MATCH,
  OPTIONAL_ORIGIN,
  ORIGIN,
  PLAIN,
  SEC_GPC,
} from './headers.ts'
import { COMPONENTS, type SchemaJson } from './schemas.ts'
import { KEY_SECURITY, keyedComponents, keyedPaths } from './keyed-paths.ts'
import { sentForm } from './sent-form.ts'
import { withFieldWords } from './words.ts'

const COLLECTION_CODES: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_json',
  'invalid_field',
  'website_not_found',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
  'rate_limited',
  'headers_too_large',
  'internal',
  'unavailable',
]
/** Codes that any address may answer. */
const MESSAGE_CODES: readonly ErrorCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'internal',
]
const RECEIPT_CODES: readonly ErrorCode[] = [
  'receipt_not_found',
  'origin_mismatch',
  'receipt_expired',
  'receipt_revoked',
]

interface DocumentOptions {
  readonly baseUrl: string
  readonly version: string
  readonly brand: string
}

export function openApiDocument(options: DocumentOptions): SchemaJson {
  const document = ofCollection(options)
  const { schemas, ...components } = objectOf(document['components'])
  const keyed = keyedPaths((codes) => errorAnswers([...new Set([...MESSAGE_CODES, ...codes])], PLAIN))
  return {
    ...document,
    paths: { ...objectOf(document['paths']), ...keyed },
    // They come with their own words.
    components: {
      ...components,
      schemas: { ...objectOf(schemas), ...keyedComponents() },
      securitySchemes: KEY_SECURITY,
    },
  }
}

function ofCollection(options: DocumentOptions): SchemaJson {
  return withFieldWords({
    openapi: '3.1.0',
    info: {
      title: 'Whence public interface',
      version: options.version,
      description:
        'Which website visit does an install of a command-line product come from? Browsers call from a registered origin, ' +
        'installers send no `Origin`, and neither sends credentials; fields that are not described here are ignored. Programs read figures and installs with an API key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl }],
    security: [],
    paths: { ...collectionPaths(), ...readPaths(), ...filePaths(options.brand) },
    components: { schemas: COMPONENTS, headers: headerComponents() },
  })
}

function collectionPaths(): SchemaJson {
  const browser: readonly ErrorCode[] = ['origin_not_allowed']
  return {
    '/v1/visits': {
      post: posted(
        { operationId: 'recordVisit', summary: 'Record a visit, issue a receipt' },
        { headers: [ORIGIN, SEC_GPC], schema: VISIT_SCHEMA, answer: 'VisitAnswer', codes: browser },
      ),
    },
    '/v1/visits/activate': {
      post: posted(
        { operationId: 'activateVisit', summary: 'Confirm that the marker was written' },
        {
          headers: [ORIGIN],
          schema: ACTIVATION_SCHEMA,
          answer: 'Ok',
          codes: [...browser, ...RECEIPT_CODES, 'receipt_not_activatable'],
        },
      ),
    },
    '/v1/handoffs': {
      post: posted(
        { operationId: 'createHandoff', summary: 'Issue a handoff token' },
        {
          headers: [ORIGIN, SEC_GPC],
          schema: { anyOf: [HANDOFF_RECEIPT_SCHEMA, HANDOFF_VISIT_SCHEMA] },
          answer: 'HandoffAnswer',
          codes: [...browser, ...RECEIPT_CODES],
        },
      ),
    },
    '/v1/events': {
      post: posted(
        {
          operationId: 'reportInstall',
          summary: 'Report an install; not from a browser',
          description: 'A request with the header `Origin` is refused with `native_endpoint`.',
        },
        {
          headers: [],
          schema: { ...EVENT_SCHEMA, not: TOKEN_AND_RECEIPTS },
          answer: 'EventAnswer',
          codes: ['native_endpoint', 'handoff_excludes_receipts'],
        },
      ),
    },
  }
}

/** Refused by the route, not by the schema: with a code of its own. */
const TOKEN_AND_RECEIPTS: SchemaJson = {
  required: ['handoff', 'receipts'],
  properties: { handoff: { type: 'string', minLength: 1 }, receipts: { type: 'array', minItems: 1 } },
}

function readPaths(): SchemaJson {
  const codes: readonly ErrorCode[] = [...MESSAGE_CODES, 'website_not_found', 'rate_limited']
  const website = parameter('website')
  return {
    '/v1/projects/{website}/browser-config': {
      get: {
        operationId: 'browserConfig',
        summary: 'Measurement IDs and providers of a website',
        parameters: [website, OPTIONAL_ORIGIN, IF_NONE_MATCH],
        responses: { 200: jsonAnswer('BrowserConfig', FILED), 304: NOT_MODIFIED, ...errorAnswers(codes, COLLECTED) },
      },
    },
    '/v1/projects/{website}/origins': {
      get: {
        operationId: 'origins',
        summary: "A website's origins, and the referrers that are no source",
        parameters: [website, OPTIONAL_ORIGIN, IF_NONE_MATCH],
        responses: { 200: jsonAnswer('Origins', FILED), 304: NOT_MODIFIED, ...errorAnswers(codes, COLLECTED) },
      },
    },
    '/v1/projects/{website}/paths/{path}/report.sh': {
      get: {
        operationId: 'hookForPath',
        summary: 'The hook with its install path filled in',
        parameters: [website, parameter('path'), IF_NONE_MATCH],
        responses: {
          200: textAnswer('text/x-shellscript'),
          304: NOT_MODIFIED,
          ...errorAnswers([...codes, 'install_path_not_found'], COLLECTED),
        },
      },
    },
    '/v1/projects/{website}/report.sh': {
      get: {
        operationId: 'hook',
        summary: 'The hook without an install path',
        parameters: [website, IF_NONE_MATCH],
        responses: { 200: textAnswer('text/x-shellscript'), 304: NOT_MODIFIED, ...errorAnswers(codes, COLLECTED) },
      },
    },
  }
}

function filePaths(brand: string): SchemaJson {
  const file = (
    operationId: string,
    summary: string,
    answer: SchemaJson,
    ...parameters: readonly SchemaJson[]
  ): SchemaJson => ({
    get: {
      operationId,
      summary,
      parameters: [...parameters, IF_NONE_MATCH],
      responses: { 200: answer, 304: NOT_MODIFIED, ...errorAnswers(MESSAGE_CODES, PLAIN) },
    },
  })
  const skill = `/skills/${brand}-setup`
  return {
    '/browser.js': file('sdk', 'The browser SDK', textAnswer('text/javascript')),
    '/browser.{digest}.js': withMissing(
      file('sdkForever', 'The same for subresource integrity', textAnswer('text/javascript'), parameter('digest')),
    ),
    '/browser/{file}': withMissing(
      file(
        'sdkPart',
        'Parts that the SDK loads if a page needs them',
        textAnswer('text/javascript'),
        parameter('file'),
      ),
    ),
    '/report.sh': file('hookSource', "The hook's source", textAnswer('text/plain')),
    '/api/limits': file('limits', 'Plans, prices, rates and service limits', jsonAnswer('Limits', FILED)),
    [`${skill}/SKILL.md`]: file('skill', 'How a coding agent sets this up', textAnswer('text/markdown')),
    [`${skill}/references/{file}`]: withMissing(
      file('skillReference', 'References of the skill', textAnswer('text/markdown'), parameter('file')),
    ),
    [`${skill}/manifest.json`]: file(
      'skillManifest',
      'The files with their SHA-256',
      jsonAnswer('SkillManifest', FILED),
    ),
    [`${skill}/install.sh`]: file('skillInstaller', 'Installs the skill', textAnswer('text/x-shellscript')),
    '/openapi.json': file('openapi', 'This document', {
      description: 'OpenAPI 3.1',
      headers: answerHeaders(FILED, 200),
      content: anyJson(),
    }),
    '/health': {
      get: {
        operationId: 'health',
        summary: 'Liveness and what is delivered',
        responses: { 200: jsonAnswer('Health', PLAIN), ...errorAnswers(MESSAGE_CODES, PLAIN) },
      },
    },
  }
}

const NOT_MODIFIED: SchemaJson = {
  description: "The client's copy is still current.",
  headers: answerHeaders(FILED, 304),
}

/** A family of files whose names are not listed here. */
function withMissing(path: SchemaJson): SchemaJson {
  const { responses, ...get } = objectOf(path['get'])
  return { get: { ...get, responses: { ...objectOf(responses), ...errorAnswers(['not_found'], PLAIN) } } }
}

/** What a reader is told of an operation. */
interface Said {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
}

interface Posted {
  /** Parameters of the head. */
  readonly headers: readonly SchemaJson[]
  readonly schema: SchemaJson
  /** Component that describes the answer. */
  readonly answer: keyof typeof COMPONENTS
  readonly codes: readonly ErrorCode[]
}

function posted(said: Said, { headers, schema, answer, codes }: Posted): SchemaJson {
  return {
    ...said,
    ...(headers.length === 0 ? {} : { parameters: headers }),
    requestBody: { required: true, content: { 'application/json': { schema: sentForm(schema) } } },
    responses: { 200: jsonAnswer(answer, COLLECTED), ...errorAnswers([...COLLECTION_CODES, ...codes], COLLECTED) },
  }
}

/** One response for each status, with the codes that it may carry and the headers that every one has. */
function errorAnswers(codes: readonly ErrorCode[], headers: Parameters<typeof answerHeaders>[0]): SchemaJson {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code])
  const rows = [...byStatus].map(([status, list]): readonly [number, SchemaJson] => [
    status,
    {
      description: list.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join(' '),
      headers: answerHeaders(headers, status),
      content: {
        'application/json': {
          schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error: { enum: list } } }] },
        },
      },
    },
  ])
  return Object.fromEntries(rows)
}

function jsonAnswer(name: keyof typeof COMPONENTS, headers: Parameters<typeof answerHeaders>[0]): SchemaJson {
  return {
    description: name,
    headers: answerHeaders(headers, 200),
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  }
}

function textAnswer(type: string): SchemaJson {
  return {
    description: 'Text',
    headers: answerHeaders(FILED, 200),
    content: { [type]: { schema: { type: 'string' } } },
  }
}

function anyJson(): SchemaJson {
  return { 'application/json': { schema: { type: 'object' } } }
}

function parameter(name: string): SchemaJson {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}
