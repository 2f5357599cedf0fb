/** The OpenAPI 3.1 document of the public interface, made from the schemas that validate requests and the table of codes. */

import { ERRORS, type ErrorCode } from '../domain/errors.ts'
import { DELIVERY_STATUSES, PROVIDER_IDS } from '../domain/model.ts'
import {
  ACTIVATION_SCHEMA,
  EVENT_SCHEMA,
  HANDOFF_RECEIPT_SCHEMA,
  HANDOFF_VISIT_SCHEMA,
  VISIT_SCHEMA,
} from '../domain/schemas.ts'

type Json = Readonly<Record<string, unknown>>

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
const RECEIPT_CODES: readonly ErrorCode[] = [
  'receipt_not_found',
  'origin_mismatch',
  'receipt_expired',
  'receipt_revoked',
]

export function openApiDocument(options: { readonly baseUrl: string; readonly version: string }): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Whence collection interface',
      version: options.version,
      description: 'Which website visit does an install of a command-line product come from? No credentials are taken.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl }],
    paths: { ...collectionPaths(), ...readPaths(), ...filePaths() },
    components: { schemas: componentSchemas() },
  }
}

function collectionPaths(): Json {
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

function readPaths(): Json {
  const codes: readonly ErrorCode[] = ['website_not_found', 'rate_limited']
  const website = parameter('website')
  return {
    '/v1/projects/{website}/browser-config': {
      get: {
        operationId: 'browserConfig',
        summary: 'Measurement IDs and providers of a website',
        parameters: [website],
        responses: { 200: jsonAnswer('BrowserConfig'), ...errorAnswers(codes) },
      },
    },
    '/v1/projects/{website}/paths/{path}/report.sh': {
      get: {
        operationId: 'hookForPath',
        summary: 'The hook with the install path written in',
        parameters: [website, parameter('path')],
        responses: { 200: textAnswer('text/x-shellscript'), ...errorAnswers([...codes, 'install_path_not_found']) },
      },
    },
    '/v1/projects/{website}/report.sh': {
      get: {
        operationId: 'hook',
        summary: 'The hook without an install path',
        parameters: [website],
        responses: { 200: textAnswer('text/x-shellscript'), ...errorAnswers(codes) },
      },
    },
  }
}

function filePaths(): Json {
  const file = (operationId: string, summary: string, answer: Json): Json => ({
    get: { operationId, summary, responses: { 200: answer } },
  })
  return {
    '/browser.js': file('sdk', 'The browser SDK', textAnswer('text/javascript')),
    '/report.sh': file('hookSource', "The hook's source", textAnswer('text/plain')),
    '/api/limits': file('limits', 'Plans, prices, rates and service limits', {
      description: 'Limits',
      content: anyJson(),
    }),
    '/openapi.json': file('openapi', 'This document', { description: 'OpenAPI 3.1', content: anyJson() }),
    '/health': file('health', 'Liveness and what is delivered', jsonAnswer('Health')),
  }
}

interface Posted {
  readonly operationId: string
  readonly summary: string
  readonly schema: Json
  /** Component that describes the answer. */
  readonly answer: string
  readonly codes: readonly ErrorCode[]
}

function posted({ operationId, summary, schema, answer, codes }: Posted): Json {
  return {
    operationId,
    summary,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { 200: jsonAnswer(answer), ...errorAnswers([...COLLECTION_CODES, ...codes]) },
  }
}

/** One response for each status, with the codes that it may carry. */
function errorAnswers(codes: readonly ErrorCode[]): Json {
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
  return Object.fromEntries(rows) as Json
}

function jsonAnswer(name: string): Json {
  return {
    description: name,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  }
}

function textAnswer(type: string): Json {
  return { description: 'Text', content: { [type]: { schema: { type: 'string' } } } }
}

function anyJson(): Json {
  return { 'application/json': { schema: { type: 'object' } } }
}

function parameter(name: string): Json {
  return { name, in: 'path', required: true, schema: { type: 'string' } }
}

function componentSchemas(): Json {
  const string = { type: 'string' }
  const integer = { type: 'integer' }
  const recorded = { const: false, description: 'Present where a Free organisation is over its quota.' }
  const marker = {
    type: 'object',
    required: ['format', 'version', 'project', 'url_id', 'origin', 'receipt', 'created_at', 'expires_at'],
    properties: {
      format: { const: 'opfs-install-attribution' },
      version: { const: 1 },
      project: string,
      url_id: string,
      origin: string,
      receipt: string,
      created_at: integer,
      expires_at: integer,
    },
  }
  return {
    Error: {
      type: 'object',
      required: ['error'],
      properties: { error: { enum: Object.keys(ERRORS) }, field: string, message: string, retryAfter: integer },
    },
    Ok: { type: 'object', required: ['ok'], properties: { ok: { const: true } } },
    VisitAnswer: { type: 'object', required: ['marker'], properties: { marker, recorded } },
    HandoffAnswer: {
      type: 'object',
      required: ['ok', 'token', 'expires_at'],
      properties: { ok: { const: true }, token: string, expires_at: integer, receipt: string, recorded },
    },
    BrowserConfig: {
      type: 'object',
      required: ['measurementIds', 'providers'],
      properties: {
        measurementIds: { type: 'array', items: string },
        providers: { type: 'array', items: { enum: PROVIDER_IDS } },
      },
    },
    Health: {
      type: 'object',
      required: ['ok', 'ga_mode', 'delivery'],
      properties: {
        ok: { const: true },
        ga_mode: { enum: ['live', 'validate', 'none'] },
        delivery: { enum: ['live', 'validate', 'none'] },
      },
    },
    EventAnswer: eventAnswer(recorded),
  }
}

function eventAnswer(recorded: Json): Json {
  const delivery = {
    type: 'object',
    required: ['destination', 'status', 'session_mode'],
    properties: {
      destination: { type: 'string' },
      status: { enum: DELIVERY_STATUSES },
      session_mode: { enum: ['original_session_window', 'client_only', 'none'] },
    },
  }
  return {
    type: 'object',
    required: ['ok', 'event_id', 'duplicate', 'resolution', 'candidate_count', 'selection_policy', 'ga'],
    properties: {
      ok: { const: true },
      event_id: { type: 'string' },
      duplicate: { type: 'boolean' },
      resolution: { enum: ['matched', 'unmatched', 'counted'] },
      candidate_count: { type: 'integer' },
      selection_policy: { enum: ['latest_visit', 'handoff', 'same_installation', 'none'] },
      ga: {
        type: 'object',
        required: ['status', 'deliveries'],
        properties: { status: { type: 'string' }, deliveries: { type: 'array', items: delivery } },
      },
      recorded,
    },
  }
}
