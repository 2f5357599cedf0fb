/** Schemas of the answers, for the OpenAPI document. */

import { ERRORS } from '../../domain/errors.ts'
import { DELIVERY_STATUSES, PLANS, SELECTION_POLICIES } from '../../domain/model.ts'
import { PROVIDER_IDS } from '../../domain/providers/index.ts'

export type SchemaJson = Readonly<Record<string, unknown>>

/** By the names that the paths refer to. */
export function componentSchemas(): SchemaJson {
  const string = { type: 'string' }
  const integer = { type: 'integer' }
  const recorded = { const: false, description: 'Present if a Free organisation is over its quota.' }
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
    Health: healthSchema(),
    EventAnswer: eventAnswer(recorded),
    ...fileSchemas(),
  }
}

function healthSchema(): SchemaJson {
  const string = { type: 'string' }
  const flags = { type: 'object', additionalProperties: { type: 'boolean' } }
  return {
    type: 'object',
    required: ['ok', 'ga_mode', 'delivery', 'version', 'catalog', 'event_log', 'hot_state', 'facts'],
    properties: {
      ok: { const: true },
      ga_mode: { enum: ['live', 'validate', 'none'] },
      delivery: { enum: ['live', 'validate', 'none'] },
      version: string,
      catalog: {
        type: 'object',
        required: ['version', 'isComplete'],
        properties: { version: string, isComplete: { type: 'boolean' } },
      },
      event_log: flags,
      hot_state: flags,
      facts: flags,
    },
  }
}

function fileSchemas(): SchemaJson {
  const digest = { type: 'string', pattern: '^[0-9a-f]{64}$' }
  const object = (properties: SchemaJson): SchemaJson => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
  })
  return {
    Limits: object({
      plans: object(Object.fromEntries(PLANS.map((plan) => [plan, { type: 'object' }]))),
      // In the operator's own words: a number, a text, an object, or null.
      prices: object(Object.fromEntries(PLANS.map((plan) => [plan, {}]))),
      rates: {
        type: 'object',
        additionalProperties: object({
          limit: { type: 'integer' },
          windowS: { type: 'integer' },
          per: { type: 'string' },
        }),
      },
      service: { type: 'object' },
      notBuilt: object({
        service: { type: 'array', items: { type: 'string' } },
        rates: { type: 'array', items: { type: 'string' } },
      }),
    }),
    SkillManifest: object({
      name: { type: 'string' },
      version: { type: 'string' },
      base_url: { type: 'string' },
      files: { type: 'array', items: object({ path: { type: 'string' }, sha256: digest }) },
      hook: object({ url: { type: 'string' }, sha256: digest }),
    }),
  }
}

function eventAnswer(recorded: SchemaJson): SchemaJson {
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
      resolution: {
        enum: ['matched', 'unmatched', 'counted', 'pending'],
        description:
          '`pending`: the data that decides it could not be read now. It is decided within seconds once that data is available, after an hour at the latest; reporting the same event again then returns the decision.',
      },
      candidate_count: { type: 'integer' },
      selection_policy: { enum: SELECTION_POLICIES },
      ga: {
        type: 'object',
        required: ['status', 'deliveries'],
        properties: { status: { type: 'string' }, deliveries: { type: 'array', items: delivery } },
      },
      recorded,
    },
  }
}
