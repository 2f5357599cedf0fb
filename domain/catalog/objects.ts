/** Parses raw objects, from YAML or the API server, into checked resources of known kinds. */

import { objectOf } from '../strict-json.ts'
import type { SmallSteps } from '../published/steps.ts'
import type { Labels } from '../resources/allowed-namespaces.ts'
import type { CatalogProblem } from '../catalog.ts'
import type { ProblemReason } from '../resources/problems.ts'
import type { SchemaFinding } from '../schema/check-schema.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { checkSchema } from '../schema/check-schema.ts'
import { closestName } from '../schema/closest-name.ts'
import { CATALOG_LABEL } from '../published/place.ts'
import type { PlanUse } from '../plan.ts'
import { withoutEdges } from '../schema/pasted-text.ts'
import type { ResourceKind, Specs } from '../resources/resources.ts'
import { ENVELOPE_SCHEMA, SECRET_SCHEMA } from '../resources/envelope.ts'
import { RESOURCE_API_VERSION, RESOURCE_GROUP, RESOURCE_KINDS, SPEC_SCHEMAS, kindOf } from '../resources/resources.ts'
import { withDefaults, withoutUnknown } from '../schema/schema-values.ts'

/** One object as it was read. Objects come in the order of their creation: the older of two takes precedence. */
export interface SourceObject {
  readonly value: unknown
  /** The position of a field, for people: `quickstart.yaml, document 2, line 14`; empty if there is no file. */
  readonly locate: (field: string) => string
  /**
   * True if an API server has accepted it, by definitions that may be newer than this program. Unknown fields are then ignored
   * with a warning. Otherwise they count as misspelt, and the object is refused.
   */
  readonly isAdmitted?: boolean
  /** Its UID, if its metadata do not have it. */
  readonly uid?: string
  /** Why it counts as too large, whatever its content: only its name and its tenant are known. */
  readonly tooLarge?: string
  /**
   * The result of reading it without a problem. Checking takes most of the time of a compilation, and most objects are
   * unchanged. Results must never be changed in place.
   */
  read?: Resource<ResourceKind> | SecretObject
  /** Fields that were ignored when it was read. */
  unknown?: readonly SchemaFinding[]
}

export interface ObjectId {
  /** `objectKey` of the next three. */
  readonly key: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly locate: (field: string) => string
}

export interface Resource<K extends ResourceKind> extends ObjectId {
  readonly kind: K
  /** Tells it from an object that had its name before; empty if unknown. */
  readonly uid: string
  readonly spec: Specs[K]
  /** What its step of the compiler derived from this object alone, for the next compilation; null at first. */
  memo: unknown
}

export interface SecretObject extends ObjectId {
  /** Plain values, by key. */
  readonly values: ReadonlyMap<string, string>
  /** Why no object may refer to it, in words that follow its name; null if objects may. */
  readonly reserved: string | null
  /** The tenant whose objects may refer to it; empty for objects of the operator of the service. */
  readonly tenant: string
}

export interface CheckedObjects {
  readonly resources: { readonly [K in ResourceKind]: readonly Resource<K>[] }
  /** By `objectKey`. */
  readonly secrets: ReadonlyMap<string, SecretObject>
  /** Labels of namespaces by name, as far as they are known. */
  readonly namespaces: ReadonlyMap<string, Labels>
  /** Keys of all objects that were read, including refused ones: a reference to one is not a misspelling. */
  readonly seen: ReadonlySet<string>
  /** By `objectKey`: objects of which nothing more is known, because they are too large. */
  readonly tooLarge: ReadonlyMap<string, TooLargeObject>
}

interface TooLargeObject {
  /** The same as in `SourceObject`. */
  readonly why: string
  /** Empty for objects of the operator of the service. */
  readonly tenant: string
}

/** What is reported about a problem, with the numbers if a plan refuses it. */
type ProblemText = string | { readonly message: string; readonly use: PlanUse }

/** Reports one problem. */
export type Report = (object: ObjectId, reason: ProblemReason, field: string, text: ProblemText) => void

const DEFAULT_NAMESPACE = 'default'
/** Types of Secrets that are never the credentials of a provider, with the reason shown for each. */
const RESERVED_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['kubernetes.io/service-account-token', 'is the token of a ServiceAccount'],
  ['bootstrap.kubernetes.io/token', 'is a token of the cluster'],
  ['kubernetes.io/dockerconfigjson', 'is for pulling images'],
  ['kubernetes.io/dockercfg', 'is for pulling images'],
  ['kubernetes.io/tls', 'is the key of a certificate'],
  ['helm.sh/release.v1', 'is a release of Helm'],
])
/** The tenant of a Secret, which has no spec. */
export const TENANT_LABEL = `${RESOURCE_GROUP}/tenant`
/** No object may refer to a Secret that has this label with the value `true`. */
const RESERVED_LABEL = `${RESOURCE_GROUP}/reserved`

/** Kind, namespace and name in one text; no two objects share it. */
export function objectKey(kind: string, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`
}

/** The name of an object in problems and IDs, prefixed with the namespace unless that is the default one. */
export function shownName(object: { readonly namespace: string; readonly name: string }): string {
  return object.namespace === DEFAULT_NAMESPACE ? object.name : `${object.namespace}/${object.name}`
}

/** Names of organisations that strangers sign up, each of which is a tenant of the same name. */
const SIGNED_UP_NAME = /^o-[0-9a-f]{16}$/

/**
 * The ID of an organisation, which everything that is stored about it says. It stands for namespace, name and tenant: an object that is
 * made again with the same three is the same organisation, and no two that differ in one share an ID. The usual tenant needs no mention:
 * that is none, or the organisation itself if its name is one of those that sign-up gives. Any other follows an `@`.
 */
export function organizationId(of: {
  readonly namespace: string
  readonly name: string
  readonly tenant: string | undefined
}): string {
  const usual = SIGNED_UP_NAME.test(of.name) ? of.name : undefined
  return of.tenant === usual ? shownName(of) : `${shownName(of)}@${of.tenant ?? ''}`
}

/**
 * A report that appends to a list; `isWarning` for objects that stay in force. `owners` holds the organisations of objects by
 * `objectKey`, as far as they are known when something is reported.
 */
export function reportTo(
  problems: CatalogProblem[],
  { isWarning = false, owners = new Map() }: { isWarning?: boolean; owners?: ReadonlyMap<string, string> } = {},
): Report {
  return (object, reason, field, text) => {
    const { message, ...more } =
      typeof text === 'string' ? { message: text } : { message: text.message, plan: text.use }
    const organization = owners.get(object.key)
    const path = field.slice(1).split('/').join('.').replaceAll('~1', '/').replaceAll('~0', '~')
    problems.push({
      object: `${object.kind}/${shownName(object)}`,
      source: object.locate(field),
      field,
      reason,
      message: path === '' ? message : `${path}: ${message}`,
      ...more,
      ...(organization === undefined ? {} : { organization }),
      ...(isWarning ? { isWarning: true as const } : {}),
    })
  }
}

/** Receives the findings of a reading. */
interface Reports {
  readonly report: Report
  /** The object stays in force. */
  readonly warn: Report
}

/** Checks every object by itself, one a step. Refused ones are reported and left out; objects of other groups are ignored. */
export function* readObjects(objects: readonly SourceObject[], reports: Reports): SmallSteps<CheckedObjects> {
  const reading: ReadObjects = {
    resources: {
      Organization: [],
      Website: [],
      InstallPath: [],
      Destination: [],
      LogStream: [],
      Webhook: [],
      ApiKey: [],
      ShareLink: [],
      Member: [],
    },
    secrets: new Map(),
    namespaces: new Map(),
    seen: new Set(),
    tooLarge: new Map(),
  }
  for (const object of objects) {
    readSource(object, reading, reports)
    yield
  }
  return reading
}

interface ReadObjects {
  readonly resources: { readonly [K in ResourceKind]: Resource<K>[] }
  readonly secrets: Map<string, SecretObject>
  readonly namespaces: Map<string, Labels>
  readonly seen: Set<string>
  readonly tooLarge: Map<string, TooLargeObject>
}

interface RawObject {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: unknown }
  readonly type?: string
  readonly spec?: unknown
  readonly stringData?: Readonly<Record<string, string>>
  readonly data?: Readonly<Record<string, string>>
}

function readSource(source: SourceObject, reading: ReadObjects, reports: Reports): void {
  const { report } = reports
  if (source.read !== undefined) {
    if (!isFirst(source.read, reading, report)) return
    warnOfUnknown(source.read, source, reports)
    addObject(source.read, reading)
    return
  }
  const id = identify(source)
  if (isNamespace(source.value, id)) {
    reading.namespaces.set(id.name, labelsOf(source.value))
    return
  }
  const isSecret = id.kind === 'Secret'
  if (source.tooLarge !== undefined) {
    noteTooLarge(id, { why: source.tooLarge, tenant: tenantIn(source.value, isSecret) }, reading, report)
    return
  }
  if (!isSecret && !isOurKind(source.value, id, report)) return
  if (!isFirst(id, reading, report) || !isSound(source, id, reports)) return
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the schema has shown its form
  const raw = source.value as RawObject
  if (!isSecret) {
    source.read = resourceOf(id, source)
    addObject(source.read, reading)
    return
  }
  const { secret, isWhole } = readSecretValues(id, raw, report)
  if (isWhole) source.read = secret
  addObject(secret, reading)
}

/** A Secret has no status: the objects that refer to it report its problem. */
function noteTooLarge(id: ObjectId, noted: TooLargeObject, reading: ReadObjects, report: Report): void {
  reading.seen.add(id.key)
  reading.tooLarge.set(id.key, noted)
  if (id.kind !== 'Secret') report(id, 'TooLarge', '', noted.why)
}

function tenantIn(value: unknown, isSecret: boolean): string {
  return isSecret
    ? (labelsOf(value)[TENANT_LABEL] ?? '')
    : textMember(objectMember(objectMember({ value }, 'value'), 'spec'), 'tenant')
}

/** Whether it fits its schema. Ignored fields are noted on the source, with a warning. */
function isSound(source: SourceObject, id: ObjectId, reports: Reports): boolean {
  const schema = ENVELOPES.get(id.kind) ?? SECRET_SCHEMA
  const findings = checkSchema(schema, source.value)
  const isPassedOver = ({ kind }: SchemaFinding) => source.isAdmitted === true && kind === 'unknown'
  const faults = findings.filter((finding) => !isPassedOver(finding))
  for (const finding of faults) reports.report(id, findingReason(finding), finding.field, finding.message)
  if (faults.length > 0) return false
  if (findings.length > 0) source.unknown = findings
  warnOfUnknown(id, source, reports)
  return true
}

function warnOfUnknown(id: ObjectId, { unknown = [] }: SourceObject, { warn }: Reports): void {
  for (const { field, message } of unknown) warn(id, 'UnknownField', field, `${message}; it is ignored`)
}

/** The schema has shown that the spec has the shape of its kind; the cast gives it that type. */
function resourceOf(id: ObjectId, source: SourceObject): Resource<ResourceKind> {
  const { metadata, spec: given } = objectOf(source.value)
  const kind = kindOf(id.kind)
  const schema = SPEC_SCHEMAS[kind]
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- the schema has shown its form
  const spec = withDefaults(schema, withoutUnknown(schema, given)) as Specs[ResourceKind]
  const uid = source.uid ?? textMember(objectOf(metadata), 'uid')
  return { ...id, kind, uid, spec, memo: null }
}

/** Whether no earlier object has this name; a duplicate is reported. */
function isFirst(id: ObjectId, { seen }: ReadObjects, report: Report): boolean {
  const before = seen.size
  seen.add(id.key)
  if (seen.size > before || id.name === '') return true
  report(id, 'DuplicateObject', '/metadata/name', `another ${id.kind} of this name came before`)
  return false
}

function addObject(object: Resource<ResourceKind> | SecretObject, { resources, secrets }: ReadObjects): void {
  if ('values' in object) secrets.set(object.key, object)
  else (resources[object.kind] as Resource<ResourceKind>[]).push(object)
}

/**
 * Values are read without the white space around them, which a file or a pasted text brings along and no service takes as part of a credential.
 * Those that are not text are reported and left out; the secret is then incomplete.
 */
function readSecretValues(id: ObjectId, raw: RawObject, report: Report) {
  const values = new Map<string, string>()
  let isWhole = true
  for (const [key, encoded] of Object.entries(raw.data ?? {})) {
    const text = decodeBase64(encoded)
    if (text === null) {
      report(id, 'InvalidField', `/data/${key}`, 'must be base64 of a text in UTF-8')
      isWhole = false
    } else values.set(key, withoutEdges(text))
  }
  for (const [key, text] of Object.entries(raw.stringData ?? {})) values.set(key, withoutEdges(text))
  const tenant = labelsOf(raw)[TENANT_LABEL] ?? ''
  const secret: SecretObject = { ...id, values, reserved: reservedFor(raw), tenant }
  return { secret, isWhole }
}

/** Written by Kubernetes or by the service, or reserved for the service by its administrator. */
function reservedFor({ metadata, type }: RawObject): string | null {
  const byType = RESERVED_TYPES.get(type)
  if (byType !== undefined) return byType
  const labels = labelsOf({ metadata })
  const isOurs = labels[RESERVED_LABEL] === 'true' || labels[CATALOG_LABEL] !== undefined
  return isOurs ? 'belongs to the service itself' : null
}

/** The object's identity, as far as it can be read. */
function identify(source: SourceObject): ObjectId {
  const object = objectMember({ value: source.value }, 'value')
  const metadata = objectMember(object, 'metadata')
  const kind = textMember(object, 'kind') || 'Object'
  const namespace = textMember(metadata, 'namespace') || DEFAULT_NAMESPACE
  const name = textMember(metadata, 'name')
  return { key: objectKey(kind, namespace, name), kind, namespace, name, locate: source.locate }
}

/** False for an object of another group; reports it if it seems to be meant for this service. */
function isOurKind(value: unknown, id: ObjectId, report: Report): boolean {
  const apiVersion = textMember(objectMember({ value }, 'value'), 'apiVersion')
  const kinds: readonly string[] = RESOURCE_KINDS
  const isKind = kinds.includes(id.kind)
  if (isKind && apiVersion === RESOURCE_API_VERSION) return true
  const isForeign = apiVersion !== '' && apiVersion.split('/')[0] !== RESOURCE_GROUP
  if (isForeign && !isKind) return false
  if (isKind) {
    report(id, 'UnknownKind', '/apiVersion', `must be ${RESOURCE_API_VERSION}`)
    return false
  }
  const meant = closestName(id.kind, [...kinds, 'Secret'])
  const hint = meant === null ? `there are ${kinds.join(', ')} and Secret` : `did you mean ${meant}?`
  report(id, 'UnknownKind', '/kind', `is not a kind of ${RESOURCE_GROUP}; ${hint}`)
  return false
}

/** Only the labels of a namespace are read, so nothing else in it can be wrong. */
function isNamespace(value: unknown, { kind }: ObjectId): boolean {
  return kind === 'Namespace' && textMember(objectMember({ value }, 'value'), 'apiVersion') === 'v1'
}

function labelsOf(value: unknown): Labels {
  const labels = objectMember(objectMember(objectMember({ value }, 'value'), 'metadata'), 'labels')
  return Object.fromEntries(
    Object.entries(labels).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

/** Made once, since a schema is compiled once for each object that it is. */
const ENVELOPES = new Map(
  RESOURCE_KINDS.map((kind): [string, JsonSchema] => [
    kind,
    { ...ENVELOPE_SCHEMA, properties: { ...ENVELOPE_SCHEMA.properties, spec: SPEC_SCHEMAS[kind] } },
  ]),
)

const REASONS: { readonly [K in SchemaFinding['kind']]: ProblemReason } = {
  unknown: 'UnknownField',
  missing: 'MissingField',
  invalid: 'InvalidField',
}

function findingReason(finding: SchemaFinding): ProblemReason {
  return REASONS[finding.kind]
}

function objectMember(object: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const member = object[name]
  return objectOf(member)
}

function textMember(object: Readonly<Record<string, unknown>>, name: string): string {
  const member = object[name]
  return typeof member === 'string' ? member : ''
}

function decodeBase64(encoded: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
