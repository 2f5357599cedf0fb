/** Makes the CustomResourceDefinition of each kind from the same schemas that the validators use. */

import { objectOf } from '../strict-json.ts'
import { conditionsSchema } from './conditions.ts'
import type { CelRule } from './crd-rules.ts'
import { ALLOWED_NAMESPACES_RULES, OBJECT_RULES, SPEC_RULES, textRules } from './crd-rules.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Sha256Hex } from '../origin.ts'
import type { ResourceKind } from './resources.ts'
import { RESOURCE_API_VERSION, RESOURCE_GROUP, SPEC_SCHEMAS } from './resources.ts'

/** Plain data, ready to be printed as YAML or JSON. */
type KubeData = Readonly<Record<string, unknown>>

/** Plural name of each kind, as used in API paths. */
export const RESOURCE_PLURALS: { readonly [K in ResourceKind]: string } = {
  Organization: 'organizations',
  Website: 'websites',
  InstallPath: 'installpaths',
  Destination: 'destinations',
  LogStream: 'logstreams',
  Webhook: 'webhooks',
  Member: 'members',
  ApiKey: 'apikeys',
  ShareLink: 'sharelinks',
}

/** Holds a digest of what a definition serves, so that the operator can detect an outdated one. */
export const SCHEMA_HASH_ANNOTATION = `${RESOURCE_GROUP}/schema-hash`

const VERSION = RESOURCE_API_VERSION.slice(RESOURCE_GROUP.length + 1)
const STATUS_TEXT_CHARS = 32_768
const IDENTITIES_MAX = 16

const SHORT_NAMES: { readonly [K in ResourceKind]: string } = {
  Organization: 'worg',
  Website: 'wsite',
  InstallPath: 'wpath',
  Destination: 'wdest',
  LogStream: 'wlog',
  Webhook: 'whook',
  Member: 'wmem',
  ApiKey: 'wkey',
  ShareLink: 'wlink',
}

interface Column {
  readonly name: string
  readonly jsonPath: string
  readonly type?: string
  readonly description: string
}

const READY: Column = {
  name: 'Ready',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: 'Whether it is in force',
}
const REASON: Column = {
  name: 'Reason',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  description: 'Why it is ready or not',
}
const ORGANIZATION: Column = {
  name: 'Organization',
  jsonPath: '.spec.organizationRef.name',
  description: 'Whom it belongs to',
}

const EXPIRES: Column = { name: 'Expires', jsonPath: '.spec.expiresAt', description: 'When it ends' }

/** The columns of `kubectl get`; at most six, so that a line fits a terminal. */
const COLUMNS: { readonly [K in ResourceKind]: readonly Column[] } = {
  Organization: [
    READY,
    REASON,
    { name: 'Plan', jsonPath: '.spec.plan', description: 'The plan' },
    { name: 'Websites', jsonPath: '.status.websites', type: 'integer', description: 'Websites in force' },
  ],
  Website: [
    READY,
    { name: 'Origin', jsonPath: '.spec.primaryOrigin', description: 'The primary origin' },
    { name: 'Visits', jsonPath: '.status.traffic.visits', type: 'integer', description: 'Visits of the last 24 hours' },
    {
      name: 'Installs',
      jsonPath: '.status.traffic.installs',
      type: 'integer',
      description: 'Installs of the last 24 hours',
    },
    {
      name: 'Matched',
      jsonPath: '.status.traffic.matchRate',
      description: 'Share of the installs of the last 24 hours that were tied to a visit',
    },
    REASON,
  ],
  InstallPath: [
    READY,
    REASON,
    ORGANIZATION,
    { name: 'Paused', jsonPath: '.spec.paused', type: 'boolean', description: 'Whether installs are only counted' },
  ],
  Destination: [
    READY,
    REASON,
    { name: 'Website', jsonPath: '.spec.websiteRef.name', description: 'Whose installs are delivered' },
    { name: 'Provider', jsonPath: '.spec.provider', description: 'Where to' },
    { name: 'Mode', jsonPath: '.spec.mode', description: 'Validate, Live or Paused' },
  ],
  LogStream: [
    READY,
    REASON,
    { name: 'State', jsonPath: '.status.state', description: 'Whether its batches are accepted' },
    { name: 'Behind', jsonPath: '.status.behindRecords', type: 'integer', description: 'Records still to be sent' },
    { name: 'Last', jsonPath: '.status.lastDeliveredAt', type: 'date', description: 'Time since a batch was accepted' },
    { name: 'Dropped', jsonPath: '.status.dropped', type: 'integer', description: 'Records that were never sent' },
  ],
  Webhook: [
    READY,
    REASON,
    ORGANIZATION,
    { name: 'Paused', jsonPath: '.spec.paused', type: 'boolean', description: 'Whether nothing is sent' },
  ],
  Member: [
    READY,
    REASON,
    ORGANIZATION,
    { name: 'Role', jsonPath: '.spec.role', description: 'What the member may do' },
    { name: 'Invited', jsonPath: '.spec.invitation.expiresAt', description: 'Until when an invitation is open' },
  ],
  ApiKey: [
    READY,
    REASON,
    ORGANIZATION,
    { name: 'Scopes', jsonPath: '.spec.scopes', description: 'What it may read' },
    EXPIRES,
  ],
  ShareLink: [
    READY,
    REASON,
    { name: 'Website', jsonPath: '.spec.websiteRef.name', description: 'Whose Overview it shows' },
    { name: 'Period', jsonPath: '.spec.period', description: 'The period that it shows' },
    EXPIRES,
  ],
}

const textOfStatus = (description: string): KubeData => ({ type: 'string', description, maxLength: STATUS_TEXT_CHARS })
const timeOfStatus = (description: string): KubeData => ({ type: 'string', format: 'date-time', description })
const countField = (description: string): KubeData => ({ type: 'integer', format: 'int64', description, minimum: 0 })

/** Fields of a status besides its conditions. */
const STATUS_FIELDS: { readonly [K in ResourceKind]: KubeData } = {
  Organization: { websites: countField('Websites in force.') },
  Website: {
    id: textOfStatus('The website ID in effect, which pages and hooks call `project`.'),
    snippet: textOfStatus("The line that goes into the website's pages."),
    hookCommand: textOfStatus('The line that goes into an install script.'),
    traffic: {
      type: 'object',
      description: 'The last 24 hours, rounded to two digits so that it is seldom written.',
      properties: {
        visits: countField('Visits.'),
        installs: countField('Install events.'),
        matchRate: textOfStatus('Share of the installs that were tied to a visit, for example 62%.'),
      },
    },
  },
  InstallPath: { id: textOfStatus('The ID in effect.') },
  Destination: {},
  LogStream: {
    state: textOfStatus('`Delivering`, `Behind`, `Failing`, `Paused` or `NotVerified`; docs/streams.md.'),
    behindRecords: countField('Records still to be sent, rounded to two digits so that it is seldom written.'),
    oldest: timeOfStatus('When the oldest of them came, to the minute.'),
    lastDeliveredAt: timeOfStatus('When a batch was last accepted; up to ten minutes old.'),
    lastError: textOfStatus('Why the last batch was not accepted.'),
    dropped: countField('Records that were never sent: the stream was too far behind, or a person skipped them.'),
  },
  Webhook: {},
  ApiKey: {},
  ShareLink: {},
  Member: {
    identities: {
      type: 'array',
      description:
        'The account at each identity provider that the address first signed in with; another one is refused.',
      maxItems: IDENTITIES_MAX,
      items: {
        type: 'object',
        description: 'One account.',
        required: ['issuer', 'subjectHash'],
        properties: {
          issuer: textOfStatus('The identity provider, as it calls itself.'),
          subjectHash: textOfStatus('Digest of its name for the account.'),
        },
      },
    },
  },
}

/** The definition of one kind, with its digest among the annotations. */
export function customResourceDefinition(kind: ResourceKind, sha256Hex: Sha256Hex): KubeData {
  const plural = RESOURCE_PLURALS[kind]
  const spec = {
    group: RESOURCE_GROUP,
    scope: 'Namespaced',
    names: {
      kind,
      listKind: `${kind}List`,
      plural,
      singular: kind.toLowerCase(),
      shortNames: [SHORT_NAMES[kind]],
      categories: ['whence'],
    },
    versions: [
      {
        name: VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: COLUMNS[kind].map(({ type = 'string', ...column }) => ({ ...column, type })),
        schema: { openAPIV3Schema: kindSchema(kind) },
      },
    ],
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${RESOURCE_GROUP}`,
      annotations: { [SCHEMA_HASH_ANNOTATION]: sha256Hex(JSON.stringify(spec)).slice(0, 16) },
    },
    spec,
  }
}

function kindSchema(kind: ResourceKind): KubeData {
  return {
    type: 'object',
    description: SPEC_SCHEMAS[kind].description,
    required: ['spec'],
    ...validations(OBJECT_RULES[kind]),
    properties: {
      apiVersion: { type: 'string', description: `Group and version: ${RESOURCE_API_VERSION}.` },
      kind: { type: 'string', description: `The kind: ${kind}.` },
      // The API server describes this field itself, and allows no other description.
      metadata: { type: 'object' },
      spec: specSchema(kind),
      status: {
        type: 'object',
        description: 'Written by the operator.',
        // An object that no operator has seen yet is in progress: tools that wait for it must not consider it finished.
        default: { observedGeneration: -1 },
        properties: {
          observedGeneration: { ...countField('The generation of the spec that this status is about.'), minimum: -1 },
          recordedGeneration: countField(
            'The last generation that has an activity entry, while later ones have none because the event log is unavailable.',
          ),
          installation: textOfStatus('The installation that it belongs to.'),
          lastHandledReconcileAt: textOfStatus(
            'The last value of the annotation whence.dev/reconcile-now that was acted on.',
          ),
          conditions: conditionsSchema(),
          ...STATUS_FIELDS[kind],
        },
      },
    },
  }
}

function specSchema(kind: ResourceKind): KubeData {
  const schema = structural(SPEC_SCHEMAS[kind])
  const properties = objectOf(schema['properties'])
  const { allowedNamespaces: block } = properties
  const rules = validations(ALLOWED_NAMESPACES_RULES)
  const held = block === undefined ? {} : { allowedNamespaces: { ...block, ...rules } }
  return { ...schema, properties: { ...properties, ...held }, ...validations(SPEC_RULES[kind]) }
}

/** The same schema in the dialect of structural schemas. */
function structural(schema: JsonSchema): KubeData {
  const { type, description, minLength, maxLength, minimum, maximum, minItems, maxItems, required } = schema
  const plain = { type, description, minLength, maxLength, minimum, maximum, minItems, maxItems, required }
  const dialect: Record<string, unknown> = Object.fromEntries(
    Object.entries(plain).filter(([, value]) => value !== undefined),
  )
  if (schema.default !== undefined) dialect['default'] = schema.default
  if (schema.enum !== undefined) dialect['enum'] = schema.enum
  if (type === 'integer') dialect['format'] = 'int64'
  if (type === 'array') Object.assign(dialect, listType(schema))
  if (schema.minProperties !== undefined) dialect['minProperties'] = schema.minProperties
  if (schema.maxProperties !== undefined) dialect['maxProperties'] = schema.maxProperties
  if (typeof schema.additionalProperties === 'object') {
    dialect['additionalProperties'] = structural(schema.additionalProperties)
  }
  if (schema.items !== undefined) dialect['items'] = structural(schema.items)
  if (schema.properties !== undefined) {
    dialect['properties'] = Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, structural(member)]),
    )
  }
  return { ...dialect, ...validations(textRules(schema)) }
}

/** How the lists of two writers are merged: sets by value, maps by ID; any other list belongs to one writer as a whole. */
function listType({ uniqueItems, items }: JsonSchema): KubeData {
  if (uniqueItems === true) return { 'x-kubernetes-list-type': 'set' }
  const hasId = items?.required?.includes('id') === true
  if (hasId) return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] }
  return { 'x-kubernetes-list-type': 'atomic' }
}

function validations(rules: readonly CelRule[]): KubeData {
  return rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }
}
