/** Schemas of an object's fields outside its spec, and of the parts of Secrets that are read. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { OBJECT_NAME_CHARS } from './resource-fields.ts'
import { isObject, memberOf, objectOf, textOf, type JsonObject } from '../strict-json.ts'

/** Name of an object or namespace. */
export const OBJECT_NAME_SCHEMA: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: OBJECT_NAME_CHARS,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  patternMeaning:
    'may have only lower-case letters, digits, hyphens and dots, and must begin and end with a letter or digit',
}

/** What is read of a manifest that may be faulty. */
export interface ReadManifest {
  /** Empty without one. */
  readonly kind: string
  readonly namespace: string
  /** Empty without one. */
  readonly name: string
  readonly annotations: JsonObject
  /** Null without one. */
  readonly spec: JsonObject | null
}

export function readManifest(value: unknown): ReadManifest {
  const metadata = memberOf(value, 'metadata')
  const spec = memberOf(value, 'spec')
  return {
    kind: textOf(memberOf(value, 'kind')),
    namespace: textOf(memberOf(metadata, 'namespace')) || DEFAULT_NAMESPACE,
    name: textOf(memberOf(metadata, 'name')),
    annotations: objectOf(memberOf(metadata, 'annotations')),
    spec: isObject(spec) ? spec : null,
  }
}

/** Of manifests that name none. */
const DEFAULT_NAMESPACE = 'default'

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

const SECRET_KEY_CHARS = 253

/** Key of a value in a Secret: as Kubernetes checks it, which writes it as a file into pods. */
export const SECRET_KEY_SCHEMA: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: SECRET_KEY_CHARS,
  pattern: '^[.]?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$',
  patternMeaning:
    'may have only letters, digits, hyphens, underscores and dots, must not be a dot, and must not begin with two dots',
}

/** Type of the Secrets that only the dashboard creates. */
export const DASHBOARD_SECRET_TYPE = 'whence.dev/dashboard'

/** The parts of a Kubernetes Secret that are read; the values are texts that no message shows. */
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
