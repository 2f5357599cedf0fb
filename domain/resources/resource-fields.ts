/** Schemas of fields that several kinds have. */

import type { JsonSchema } from '../schema/json-schema.ts'
import { LIMITS } from '../limits.ts'

/** The longest name of any Kubernetes object. */
export const OBJECT_NAME_CHARS = 253
const NAMESPACE_CHARS = 63
/** DNS's maximum. */
const HOST_CHARS = 253
/** Scheme, a host of 253 characters, DNS's maximum, and a port. */
const ORIGIN_CHARS = 300

/** The longest name of an installation: that of a release of the chart. */
const INSTALLATION_PATTERN = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
const ID_PATTERN = '^[a-z0-9][a-z0-9-]*$'
const ID_MEANING = 'may have only lower-case letters, digits and hyphens, and must not begin with a hyphen'

/**
 * One character of a name that people read: none that is not seen, that controls a terminal (C0 and C1), or that turns its neighbours around.
 * The joiners U+200C and U+200D are letters' neighbours in Persian and in emoji.
 */
export const NAME_CHAR = String.raw`[^\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb]`
export const NAME_MEANING = 'must not have line breaks, control characters, or characters that hide or turn text around'

export const displayName: JsonSchema = {
  type: 'string',
  description: 'The name that people see. Default: the name of the object.',
  minLength: 1,
  maxLength: LIMITS.nameChars,
  pattern: `^${NAME_CHAR}*$`,
  patternMeaning: NAME_MEANING,
}

export const id: JsonSchema = {
  type: 'string',
  description: 'An ID: lower-case letters, digits and hyphens.',
  minLength: 1,
  maxLength: LIMITS.websiteIdChars,
  pattern: ID_PATTERN,
  patternMeaning: ID_MEANING,
}

/** A host as `URL.hostname` spells it: other spellings would never equal that of a referrer. */
export const hostName = (description: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: HOST_CHARS,
  pattern: '^[a-z0-9_-]+([.][a-z0-9_-]+)*$',
  patternMeaning: 'must be a host such as accounts.google.com: lower case, without scheme, port and path',
})

/** The payment provider's ID of one of its own objects. */
export const paymentId = (description: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: 255,
  pattern: '^[A-Za-z0-9_-]+$',
  patternMeaning: 'may have only letters, digits, hyphens and underscores',
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

/** Of kinds that give rights: who may write in another namespace must not. */
export const organizationHere: JsonSchema = {
  type: 'object',
  description: 'The Organization, in the namespace of this object.',
  required: ['name'],
  properties: { name: objectName('Its name.') },
}

/** The same of a website. */
export const websiteHere: JsonSchema = {
  type: 'object',
  description: 'The Website, in the namespace of this object.',
  required: ['name'],
  properties: { name: objectName('Its name.') },
}

const HASH_CHARS = 'sha256:'.length + 64

/** The digest of what opens something, which is shown once and stored nowhere. */
export const passHash = (description: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: HASH_CHARS,
  maxLength: HASH_CHARS,
  pattern: '^sha256:[0-9a-f]{64}$',
  patternMeaning: 'must be sha256: and 64 hexadecimal digits',
})

export const resourceRef = (description: string, permission: string): JsonSchema => ({
  type: 'object',
  description,
  required: ['name'],
  properties: {
    name: objectName('Its name.'),
    namespace: {
      type: 'string',
      description: `Its namespace, if it is another one; ${permission} must allow that.`,
      minLength: 1,
      maxLength: NAMESPACE_CHARS,
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      patternMeaning:
        'may have only lower-case letters, digits and hyphens, and must begin and end with a letter or digit',
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

/** Part of every kind. */
export const tenant: JsonSchema = {
  type: 'string',
  description:
    'Whose object it is in a service that strangers share. Objects can refer only to objects of the same tenant. It cannot be changed. The dashboard sets it; leave it out of your own objects.',
  minLength: 1,
  maxLength: NAMESPACE_CHARS,
  pattern: INSTALLATION_PATTERN,
  patternMeaning: 'may have only lower-case letters, digits and hyphens, and must begin and end with a letter or digit',
}

/** Part of every kind. */
export const installation: JsonSchema = {
  type: 'string',
  description:
    'Name of the installation that this object is for; all others leave it alone. If it is absent, the object belongs to the installation that first wrote its status.',
  minLength: 1,
  maxLength: NAMESPACE_CHARS,
  pattern: INSTALLATION_PATTERN,
  patternMeaning: 'may have only lower-case letters, digits and hyphens, and must begin and end with a letter or digit',
}

export interface KeyRef {
  readonly name: string
  readonly key: string
}

/** The secret before, of whatever signs what it posts. */
export interface PreviousSecretSpec {
  readonly previousSecretRef?: KeyRef
  /** RFC 3339, UTC. */
  readonly previousSecretUntil?: string
}

/** 29 February passes in every year; in one that has none it is read as 1 March. */
const MONTH_AND_DAY =
  '(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9])'

/** A time that `Date.parse` can always read: an end that cannot be read would never come. */
export const utcTime = (description: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 20,
  maxLength: 20,
  pattern: `^[0-9]{4}-(${MONTH_AND_DAY})T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$`,
  patternMeaning: 'must be a time in UTC such as 2026-11-29T06:00:00Z',
})

export const PREVIOUS_SECRET_FIELDS: Readonly<Record<keyof PreviousSecretSpec, JsonSchema>> = {
  previousSecretRef: keyRef('The previous secret, which also signs, so that receivers can change over one by one.'),
  previousSecretUntil: utcTime(
    'Until when the previous secret also signs, in UTC, for example 2026-11-29T06:00:00Z. If absent, as long as the secret is named.',
  ),
}
