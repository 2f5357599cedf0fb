/** The OpenAPI 3.1 document of the public interface, made from the schemas that validate requests and the table of codes. */

import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import {
  ACTIVATION_SCHEMA,
  EVENT_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  VISIT_SCHEMA,
} from '../domain/collection/schemas.ts'
import { componentSchemas, type SchemaJson } from './openapi-schemas.ts'

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
  return {
    openapi: '3.1.0',
    info: {
      title: 'Whence collection interface',
      version: options.version,
      description: 'Which website visit does an install of a command-line product come from? No credentials are taken.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl }],
    paths: { ...collectionPaths(), ...readPaths(), ...filePaths(options.brand) },
    components: { schemas: componentSchemas() },
  }
}

function collectionPaths(): SchemaJson {
  const browser: readonly ErrorCode[] = ['origin_not_allowed']
  return {
    '/v1/visits': {
      post: posted({
        operationId: 'recordVisit',
        summary: 'Record a visit, issue a receipt',
        schema: VISIT_SCHEMA,
        answer: 'VisitAnswer',
        codes: browser,
      }),
    },
    '/v1/visits/activate': {
      post: posted({
        operationId: 'activateVisit',
        summary: 'Confirm that the marker was written',
        schema: ACTIVATION_SCHEMA,
        answer: 'Ok',
        codes: [...browser, ...RECEIPT_CODES, 'receipt_not_activatable'],
      }),
    },
    '/v1/handoffs': {
      post: posted({
        operationId: 'createHandoff',
        summary: 'Issue a handoff token',
        schema: { anyOf: [HANDOFF_RECEIPT_SCHEMA, HANDOFF_VISIT_SCHEMA] },
        answer: 'HandoffAnswer',
        codes: [...browser, ...RECEIPT_CODES],
      }),
    },
    '/v1/events': {
      post: posted({
        operationId: 'reportInstall',
        summary: 'Report an install; not from a browser',
        schema: EVENT_SCHEMA,
        answer: 'EventAnswer',
        codes: ['native_endpoint', 'handoff_excludes_receipts'],
      }),
    },
  }
}

function readPaths(): SchemaJson {
  const codes: readonly ErrorCode[] = [...MESSAGE_CODES, 'website_not_found', 'rate_limited']
  const website = parameter('website')
  return {
    '/v1/projects/{website}/browser-config': {
      get: {
        operationId: 'browserConfig',
        summary: 'Measurement IDs and providers of a website',
        parameters: [website],
        responses: { 200: jsonAnswer('BrowserConfig'), 304: NOT_MODIFIED, ...errorAnswers(codes) },
      },
    },
    '/v1/projects/{website}/paths/{path}/report.sh': {
      get: {
        operationId: 'hookForPath',
        summary: 'The hook with its install path filled in',
        parameters: [website, parameter('path')],
        responses: {
          200: textAnswer('text/x-shellscript'),
          304: NOT_MODIFIED,
          ...errorAnswers([...codes, 'install_path_not_found']),
        },
      },
    },
    '/v1/projects/{website}/report.sh': {
      get: {
        operationId: 'hook',
        summary: 'The hook without an install path',
        parameters: [website],
        responses: { 200: textAnswer('text/x-shellscript'), 304: NOT_MODIFIED, ...errorAnswers(codes) },
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
      ...(parameters.length === 0 ? {} : { parameters }),
      responses: { 200: answer, 304: NOT_MODIFIED, ...errorAnswers(MESSAGE_CODES) },
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
    '/api/limits': file('limits', 'Plans, prices, rates and service limits', jsonAnswer('Limits')),
    [`${skill}/SKILL.md`]: file('skill', 'How a coding agent sets this up', textAnswer('text/markdown')),
    [`${skill}/references/{file}`]: withMissing(
      file('skillReference', 'References of the skill', textAnswer('text/markdown'), parameter('file')),
    ),
    [`${skill}/manifest.json`]: file('skillManifest', 'The files with their SHA-256', jsonAnswer('SkillManifest')),
    [`${skill}/install.sh`]: file('skillInstaller', 'Installs the skill', textAnswer('text/x-shellscript')),
    '/openapi.json': file('openapi', 'This document', { description: 'OpenAPI 3.1', content: anyJson() }),
    '/health': file('health', 'Liveness and what is delivered', jsonAnswer('Health')),
  }
}

const NOT_MODIFIED: SchemaJson = { description: "The client's copy is still current." }

/** A family of files whose names are not listed here. */
function withMissing(path: SchemaJson): SchemaJson {
  const { responses, ...get } = path['get'] as SchemaJson
  return { get: { ...get, responses: { ...(responses as SchemaJson), ...errorAnswers(['not_found']) } } }
}

interface Posted {
  readonly operationId: string
  readonly summary: string
  readonly schema: SchemaJson
  /** Component that describes the answer. */
  readonly answer: string
  readonly codes: readonly ErrorCode[]
}

function posted({ operationId, summary, schema, answer, codes }: Posted): SchemaJson {
  return {
    operationId,
    summary,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { 200: jsonAnswer(answer), ...errorAnswers([...COLLECTION_CODES, ...codes]) },
  }
}

/** One response for each status, with the codes that it may carry. */
function errorAnswers(codes: readonly ErrorCode[]): SchemaJson {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code])
  const rows = [...byStatus].map(([status, list]) => [
    status,
    {
      description: list.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join(' '),
      content: {
        'application/json': {
          schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error: { enum: list } } }] },
        },
      },
    },
  ])
  return Object.fromEntries(rows) as SchemaJson
}

function jsonAnswer(name: string): SchemaJson {
  return {
    description: name,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  }
}

function textAnswer(type: string): SchemaJson {
  return { description: 'Text', content: { [type]: { schema: { type: 'string' } } } }
}

function anyJson(): SchemaJson {
  return { 'application/json': { schema: { type: 'object' } } }
}

function parameter(name: string): SchemaJson {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}
