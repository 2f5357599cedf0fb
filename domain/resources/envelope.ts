/** Schemas of an object's fields outside its spec, and of Secrets as far as they are read. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { OBJECT_NAME_CHARS } from './resource-fields.ts'

/** Name of an object or namespace. */
export const OBJECT_NAME_SCHEMA: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: OBJECT_NAME_CHARS,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  patternMeaning:
    'may have lower-case letters, digits, hyphens and dots only, and begins and ends with a letter or digit',
}

/** The fields outside a spec. Other members of `metadata` and the whole `status` are Kubernetes' business. */
export const ENVELOPE_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['metadata', 'spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: metadata(),
    spec: { type: 'object', additionalProperties: true },
    status: { type: 'object', additionalProperties: true },
  },
}

/** A Kubernetes Secret as far as it is read; values are texts, never shown in a message. */
export const SECRET_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['metadata'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: metadata(),
    type: { type: 'string' },
    immutable: { type: 'boolean' },
    stringData: { type: 'object', additionalProperties: { type: 'string' } },
    data: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

function metadata(): JsonSchema {
  const name = OBJECT_NAME_SCHEMA
  return { type: 'object', required: ['name'], properties: { name, namespace: name }, additionalProperties: true }
}
