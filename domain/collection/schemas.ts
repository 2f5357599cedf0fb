/** JSON Schemas of the request bodies, built from the limits: validators, OpenAPI and docs are made from these. */

import { listIn } from '../guards.ts'
import { objectOf, isObject } from '../strict-json.ts'
import { LIMITS } from '../limits.ts'
import { EVENT_TYPES } from '../model.ts'
import type { IdentifierKind } from '../providers/descriptor.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS } from '../providers/index.ts'
import { identifier, moment, object, text, url, type Schema } from './schema-parts.ts'
import { PAGE_PROPERTIES } from './visit-fields.ts'

const customFields: Schema = {
  type: 'object',
  maxProperties: LIMITS.customFields,
  propertyNames: text(LIMITS.customValueChars),
  additionalProperties: { anyOf: [text(LIMITS.customValueChars), { type: 'number' }, { type: 'boolean' }] },
}

const IDENTIFIER_SCHEMAS: { readonly [K in IdentifierKind]: Schema } = {
  text: identifier,
  'long text': text(LIMITS.sessionAttributesChars),
  // A greater number would have lost digits when it was parsed.
  'text or number': { anyOf: [identifier, { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }] },
  moment,
}

interface SentIdentifiers {
  readonly identifiers: Readonly<Record<string, IdentifierKind>>
  readonly accounts?: { readonly idPattern: string }
}

function identitySchema({ identifiers, accounts }: SentIdentifiers): Schema {
  const fields = Object.entries(identifiers).map(([name, kind]) => [name, IDENTIFIER_SCHEMAS[kind]] as const)
  const one = object(Object.fromEntries(fields))
  if (accounts === undefined) return one
  return {
    type: 'object',
    maxProperties: LIMITS.measurementIdsPerVisit,
    propertyNames: { pattern: accounts.idPattern },
    additionalProperties: one,
  }
}

const identities = object({
  ...Object.fromEntries(PROVIDER_IDS.map((id) => [id, identitySchema(PROVIDER_DESCRIPTORS[id])])),
  custom: {
    type: 'object',
    maxProperties: LIMITS.customAdapters,
    propertyNames: text(LIMITS.customValueChars),
    additionalProperties: customFields,
  },
})

/** No maximum length: anything that is not a website's ID gets `website_not_found`, whatever its form. */
const project: Schema = { type: 'string' }
const gpc: Schema = { type: 'boolean' }
/** One that proves nothing is ignored, never an error, so only its type is checked. */
const test: Schema = { type: 'string' }

const visitProperties: Schema = {
  project,
  url_id: { type: 'string', minLength: 1, maxLength: 128 },
  page_url: { ...url, minLength: 1 },
  identities,
  ...PAGE_PROPERTIES,
  gpc,
  test,
}

const VISIT_REQUIRED = ['project', 'url_id', 'page_url']

export const VISIT_SCHEMA = object(
  // The previous content of the page's marker is used if it is genuine and ignored otherwise, so only its type is
  // checked.
  { ...visitProperties, previous_receipt: { type: 'string' } },
  { required: VISIT_REQUIRED },
)

export const HANDOFF_VISIT_SCHEMA = object(visitProperties, { required: VISIT_REQUIRED })

export const HANDOFF_RECEIPT_SCHEMA = object(
  { project, receipt: { type: 'string' }, gpc, copied: { type: 'boolean' } },
  { required: ['project', 'receipt'] },
)

export const ACTIVATION_SCHEMA = object({ project, receipt: { type: 'string' } }, { required: ['project', 'receipt'] })

const ID_PATTERN = `^[A-Za-z0-9_-]{${LIMITS.idChars.min},${LIMITS.idChars.max}}$`
const id: Schema = { type: 'string', maxLength: LIMITS.idChars.max, pattern: ID_PATTERN }
const machineFact = text(LIMITS.machineFactChars)
const machineFacts: Schema = {
  description: 'One text or a list of texts; a list is kept whole.',
  anyOf: [machineFact, { type: 'array', maxItems: LIMITS.browsersPerInstall, items: machineFact }],
}

/** What an installer's maker states, which people read: neither control characters nor such as hide or reorder their neighbours. */
const statedFact: Schema = { ...text(LIMITS.statedFactChars), pattern: String.raw`^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$` }
const yesOrNo: Schema = { type: 'boolean' }

export const EVENT_SCHEMA = object(
  {
    project,
    event_id: id,
    installation_id: id,
    event_type: { type: 'string', enum: EVENT_TYPES },
    receipts: {
      type: 'array',
      maxItems: LIMITS.receiptsPerInstall,
      items: { type: 'string', minLength: LIMITS.receiptChars, maxLength: LIMITS.receiptChars },
    },
    // An unusable token is not an error, so only its type is checked.
    handoff: { type: 'string' },
    platform: { type: 'string', enum: ['darwin', 'linux'] },
    install_path: { type: 'string' },
    arch: machineFacts,
    browsers: machineFacts,
    default_browser: machineFacts,
    timezone: machineFacts,
    language: machineFacts,
    product_version: statedFact,
    place: statedFact,
    ci: yesOrNo,
    container: yesOrNo,
    test,
  },
  { required: ['project', 'event_id', 'installation_id', 'event_type'] },
)

/** The members that schemas name: error pointers show these and hide all names made up by clients. */
export const KNOWN_MEMBERS: ReadonlySet<string> = new Set(
  [VISIT_SCHEMA, HANDOFF_RECEIPT_SCHEMA, EVENT_SCHEMA].flatMap((schema) => memberNames(schema)),
)

function memberNames(schema: Schema): string[] {
  const properties = objectOf(schema['properties'])
  const inner = [
    ...Object.values(properties),
    ...listIn(schema, 'anyOf'),
    schema['additionalProperties'],
    schema['items'],
  ]
  return [...Object.keys(properties), ...inner.flatMap((member) => (isObject(member) ? memberNames(member) : []))]
}
