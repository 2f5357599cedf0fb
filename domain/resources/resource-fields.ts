/** Schemas of fields that several kinds have. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { LIMITS } from '../limits.ts'

/** Of any object of Kubernetes. */
export const OBJECT_NAME_CHARS = 253
const NAMESPACE_CHARS = 63
/** Scheme, a host of 253 characters, DNS's maximum, and a port. */
const ORIGIN_CHARS = 300

/** Of installations: that of a release of the chart. */
const INSTALLATION_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
const ID_PATTERN = '^[a-z0-9][a-z0-9-]*$'
const ID_MEANING = 'may have lower-case letters, digits and hyphens only, and must not begin with a hyphen'

export const displayName: JsonSchema = {
  type: 'string',
  description: 'What people see. The name of the object if it is absent.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
  patternMeaning: 'must not have line breaks or control characters',
}

export const id: JsonSchema = {
  type: 'string',
  description: 'An ID: lower-case letters, digits and hyphens.',
  minLength: 1,
  maxLength: LIMITS.websiteIdChars,
  pattern: ID_PATTERN,
  patternMeaning: ID_MEANING,
}

/** What the payment provider calls a thing of its own. */
export const paymentId = (description: string): JsonSchema => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 255 },
  ...{ pattern: '^[A-Za-z0-9_-]+$', patternMeaning: 'may have letters, digits, hyphens and underscores only' },
})

const objectName = (description: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: OBJECT_NAME_CHARS,
})

export const ref = (description: string): JsonSchema => ({
  type: 'object',
  description,
  required: ['name'],
  properties: { name: objectName('Name of the Secret, in the namespace of this object.') },
})

export const resourceRef = (description: string, permission: string): JsonSchema => ({
  type: 'object',
  description,
  required: ['name'],
  properties: {
    name: objectName('Its name.'),
    namespace: {
      type: 'string',
      description: `Its namespace, if that is another one; ${permission} must allow that.`,
      minLength: 1,
      maxLength: NAMESPACE_CHARS,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      patternMeaning:
        'may have lower-case letters, digits and hyphens only, and begins and ends with a letter or digit',
    },
  },
})

export const keyRef = (description: string): JsonSchema => ({
  type: 'object',
  description,
  required: ['name', 'key'],
  properties: {
    name: objectName('Name of the Secret, in the namespace of this object.'),
    key: objectName('The key in the Secret that holds the value.'),
  },
})

const ADDRESS_CHARS = { origin: ORIGIN_CHARS, page: LIMITS.urlChars, outbound: LIMITS.outboundUrlChars } as const

export const address = (kind: 'origin' | 'page' | 'outbound', description: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: ADDRESS_CHARS[kind],
  address: kind,
})

/** Of every kind. */
export const tenant: JsonSchema = {
  type: 'string',
  description:
    'Whose object it is in a service that strangers share: objects refer to those of the same tenant only, and it cannot be changed. The dashboard sets it; leave it out of your own objects.',
  minLength: 1,
  maxLength: NAMESPACE_CHARS,
  pattern: INSTALLATION_PATTERN,
  patternMeaning: 'may have lower-case letters, digits and hyphens only, and begins and ends with a letter or digit',
}

/** Of every kind. */
export const installation: JsonSchema = {
  type: 'string',
  description:
    'Name of the installation that this object is for; all others leave it alone. If it is absent, the object belongs to the installation that first wrote its status.',
  minLength: 1,
  maxLength: NAMESPACE_CHARS,
  pattern: INSTALLATION_PATTERN,
  patternMeaning: 'may have lower-case letters, digits and hyphens only, and begins and ends with a letter or digit',
}
