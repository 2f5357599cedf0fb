/**
 * Writes objects into a cluster. Each write names the version that was read, so the API server itself compares and sets;
 * fields of another manager are never taken over: changes are applied without force.
 */

import { type JsonObject, objectOf } from '../../domain/strict-json.ts'
import { TENANT_LABEL } from '../../domain/catalog/objects.ts'
import { RESOURCE_PLURALS } from '../../domain/resources/crd.ts'
import { DASHBOARD_SECRET_TYPE } from '../../domain/resources/envelope.ts'
import {
  adopted,
  BILLING_MANAGER,
  CHANGED_BY_ANNOTATION,
  DASHBOARD_MANAGER,
  fieldsToApply,
  foreignChange,
  foreignOwners,
  ownedFields,
  type FieldOwner,
  type ManagedEntry,
  managedFieldsOf,
} from '../../domain/resources/field-owners.ts'
import { RESOURCE_API_VERSION, specSchemaOf, kindOf } from '../../domain/resources/resources.ts'
import { APPLY_TYPE, KubeError, type KubeClient } from '../../runtime/kube/client.ts'
import { type KubeObject, requestObject } from '../../runtime/kube/objects.ts'
import { objectVersion } from './cluster-objects.ts'
import { outcomeOfError, VERSION_GONE } from './kube-refusals.ts'
import {
  placeOf,
  type BillingFields,
  type ResourceAddress,
  type ResourceWriter,
  type SecretRoom,
  type StoredObject,
  type WriteManner,
  type WriteOutcome,
  type WrittenObject,
  type WrittenSecret,
} from './writer.ts'

const JSON_PATCH = 'application/json-patch+json'
const NOT_FOUND = 404
/** A status that the operator writes in between is no change of the spec. */
const TRIES = 8

/** What counts the Secrets of an organisation in a day. */
export interface SecretPlaces {
  /** Counts one more; false if there were as many. Rejects while that is not known. */
  readonly take: (room: SecretRoom) => Promise<boolean>
  /** For one that was counted so many milliseconds ago, and was not made. Never rejects. */
  readonly giveBack: (room: SecretRoom, agoMs: number) => Promise<void>
}

const NO_LIMIT: SecretPlaces = { take: async () => true, giveBack: async () => undefined }

export function clusterWriter(
  client: KubeClient,
  nowMs: () => number,
  places: SecretPlaces = NO_LIMIT,
): ResourceWriter {
  const parts = { client, nowMs }
  return {
    read: async (ref) => {
      const object = await get(client, ref)
      return object === null ? null : storedOf(ref, object)
    },
    create: (object, manner = {}) => create(parts, object, manner),
    replace: (object, version, manner = {}) =>
      whileSpecStays(client, { ref: object, version, manner }, (current) =>
        applyChange(parts, { object, current }, manner),
      ),
    remove: (ref, version, manner = {}) =>
      whileSpecStays(client, { ref, version, manner }, (current) => removeObject(parts, { ref, current }, manner)),
    writeBilling: (stored, fields) =>
      whileSpecStays(client, { ref: stored, version: stored.version }, (current) =>
        pay(client, current, { stored, fields }),
      ),
    createSecret: async (secret) => {
      const { room } = secret
      if (room === undefined) return writeSecret(client, secret)
      const takenAtMs = nowMs()
      if (!(await places.take(room))) return { kind: 'full', used: room.allowed }
      let isMade = false
      try {
        const outcome = await writeSecret(client, secret)
        isMade = outcome.kind === 'written'
        return outcome
      } finally {
        if (!isMade) await places.giveBack(room, Math.max(0, nowMs() - takenAtMs))
      }
    },
  }
}

interface WriterParts {
  readonly client: KubeClient
  readonly nowMs: () => number
}

async function get(client: KubeClient, ref: ResourceAddress): Promise<KubeObject | null> {
  try {
    return await requestObject(client, { method: 'GET', path: resourcePath(ref) })
  } catch (error) {
    if (error instanceof KubeError && error.status === NOT_FOUND) return null
    throw error
  }
}

function storedOf(ref: ResourceAddress, object: KubeObject): StoredObject {
  const spec = specOf(object)
  const readOnly = ownedFields(foreignOwners(managedOf(object), { mayTakeOver: true }), spec)
  return { ...ref, spec, version: versionOf(object), managedBy: readOnly[0]?.manager ?? null, readOnly }
}

function versionOf({ metadata: { uid = '', generation = 0 } }: KubeObject): string {
  return objectVersion(uid, generation)
}

async function create(
  { client }: WriterParts,
  { spec, ...ref }: WrittenObject,
  { isDryRun = false, sign }: WriteManner,
): Promise<WriteOutcome> {
  const { kind, namespace, name } = ref
  const post = (path: string, annotations: object): Promise<KubeObject> => {
    const body = { apiVersion: RESOURCE_API_VERSION, kind, metadata: { name, namespace, ...annotations }, spec }
    return requestObject(client, {
      method: 'POST',
      path: `${collection(ref)}?fieldManager=${DASHBOARD_MANAGER}${path}`,
      body,
    })
  }
  return writeOutcome(async () => {
    if (sign === undefined && !isDryRun) return written(post('', {}))
    // Defaults are filled in on the way, and the signature is of what is stored.
    const preview = specOf(await post(DRY_RUN, {}))
    if (isDryRun) return { kind: 'fits', spec: preview }
    return written(post('', sign === undefined ? {} : signed(sign, placeOf(ref), preview)))
  })
}

const DRY_RUN = '&dryRun=All'

function signed(sign: NonNullable<WriteManner['sign']>, subject: string, spec: JsonObject): object {
  return { annotations: { [CHANGED_BY_ANNOTATION]: sign(subject, spec) } }
}

interface ExpectedVersion {
  readonly ref: ResourceAddress
  readonly version: string
  readonly manner?: WriteManner
}

/** Writes what was read; again if only something else than the spec changed in between. */
async function whileSpecStays(
  client: KubeClient,
  { ref, version, manner = {} }: ExpectedVersion,
  write: (current: KubeObject) => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const current = await get(client, ref)
    if (current === null || versionOf(current) !== version) return VERSION_GONE
    if (manner.reliesOn !== undefined && !(await marked(client, manner.reliesOn))) return VERSION_GONE
    const outcome = await write(current)
    if (outcome.kind !== 'conflict') return outcome
  }
  return VERSION_GONE
}

const RELIED_ON_ANNOTATION = 'whence.dev/relied-on'
const MERGE_PATCH = 'application/merge-patch+json'

/**
 * Marks an object that a change of another one rests on; false if it is no longer as it was read. The mark gives it a new resource version, so
 * whoever has read it for a change of its own fails: of any number of changes that rest on each other's objects, the one that read
 * first, or none, is written. The object of the change must have been read before this. Each mark differs from the one before, since
 * the API server gives no new version to a patch without effect.
 */
async function marked(client: KubeClient, reliesOn: StoredObject): Promise<boolean> {
  const current = await get(client, reliesOn)
  if (current === null || versionOf(current) !== reliesOn.version) return false
  const { resourceVersion = '' } = current.metadata
  const body = { metadata: { resourceVersion, annotations: { [RELIED_ON_ANNOTATION]: resourceVersion } } }
  const path = `${resourcePath(reliesOn)}?fieldManager=${DASHBOARD_MANAGER}`
  const outcome = await writeOutcome(() =>
    written(client.request({ method: 'PATCH', path, body, contentType: MERGE_PATCH })),
  )
  return outcome.kind === 'written'
}

interface Changing {
  readonly object: WrittenObject
  readonly current: KubeObject
}

async function applyChange(parts: WriterParts, changing: Changing, manner: WriteManner): Promise<WriteOutcome> {
  const { object, current } = changing
  const { mayTakeOver = true, isDryRun = false, sign } = manner
  const owners = foreignOwners(managedOf(current), { mayTakeOver })
  const [other] = owners
  // Who belongs where is one decision: a field more, such as an invitation, would undo it.
  if (object.kind === 'Member' && other !== undefined) {
    return { kind: 'managed_elsewhere', manager: other.manager, field: '' }
  }
  const schema = specSchemaOf(object.kind)
  const theirs = foreignChange(schema, { before: specOf(current), after: object.spec }, owners)
  if (theirs !== null) return { kind: 'managed_elsewhere', ...theirs }
  return writeOutcome(async () => {
    const preview = isDryRun || sign !== undefined ? await previewOf(parts.client, changing) : null
    if (isDryRun) return { kind: 'fits', spec: preview ?? {} }
    const { uid = '' } = current.metadata
    const more = sign === undefined || preview === null ? {} : signed(sign, uid, preview)
    return written(apply(parts, { ...changing, owners, more }, mayTakeOver))
  })
}

/** The whole spec, as it would be stored. */
async function previewOf(client: KubeClient, { object, current }: Changing): Promise<JsonObject> {
  const body = [...pinned(current), { op: 'replace', path: '/spec', value: object.spec }]
  const path = `${resourcePath(object)}?fieldManager=${DASHBOARD_MANAGER}${DRY_RUN}`
  return specOf(await requestObject(client, { method: 'PATCH', path, body, contentType: JSON_PATCH }))
}

function pinned({ metadata: { resourceVersion } }: KubeObject): readonly object[] {
  return [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }]
}

interface Applying extends Changing {
  readonly owners: readonly FieldOwner[]
  /** Metadata in addition to name and version. */
  readonly more: object
}

async function apply(
  { client, nowMs }: WriterParts,
  { object, current, owners, more }: Applying,
  mayTakeOver: boolean,
): Promise<unknown> {
  const path = `${resourcePath(object)}?fieldManager=${DASHBOARD_MANAGER}`
  const now = `${new Date(nowMs()).toISOString().slice(0, 19)}Z`
  const managedFields = adopted(managedOf(current), { mayTakeOver, apiVersion: RESOURCE_API_VERSION, now })
  let { resourceVersion } = current.metadata
  if (managedFields !== null) {
    const body = [...pinned(current), { op: 'replace', path: '/metadata/managedFields', value: managedFields }]
    const taken = await requestObject(client, { method: 'PATCH', path, body, contentType: JSON_PATCH })
    resourceVersion = taken.metadata.resourceVersion
  }
  const { kind, namespace, name } = object
  const metadata = { name, namespace, resourceVersion, ...more }
  const spec = fieldsToApply(object.spec, specOf(current), owners)
  const body = { apiVersion: RESOURCE_API_VERSION, kind, metadata, spec }
  return client.request({ method: 'PATCH', path: `${path}&force=false`, body, contentType: APPLY_TYPE })
}

interface Paying {
  readonly stored: StoredObject
  readonly fields: BillingFields
}

/** With force: takes the fields over from the dashboard, which created the object, and from people who set them by hand. */
async function pay(client: KubeClient, current: KubeObject, { stored, fields }: Paying): Promise<WriteOutcome> {
  const owners = foreignOwners(managedOf(current), { mayTakeOver: true }).filter(
    ({ manager }) => manager !== BILLING_MANAGER,
  )
  const theirs = ownedFields(owners, specOf(current)).find(({ field }) => /^\/spec\/(plan|billing)(\/|$)/.test(field))
  if (theirs !== undefined) return { kind: 'managed_elsewhere', ...theirs }
  const { kind, namespace, name } = stored
  const { resourceVersion } = current.metadata
  const body = {
    apiVersion: RESOURCE_API_VERSION,
    kind,
    metadata: { name, namespace, resourceVersion },
    spec: fields,
  }
  const path = `${resourcePath(stored)}?fieldManager=${BILLING_MANAGER}`
  return writeOutcome(async () => {
    const request = { path: `${path}&force=true`, body, contentType: APPLY_TYPE }
    const paid = await requestObject(client, { method: 'PATCH', ...request })
    // Applying without a field leaves it there if somebody else has applied it too.
    const isLeft = fields.billing === undefined && specOf(paid)['billing'] !== undefined
    if (!isLeft) return { kind: 'written' }
    const removal = [...pinned(paid), { op: 'remove', path: '/spec/billing' }]
    return written(client.request({ method: 'PATCH', path, body: removal, contentType: JSON_PATCH }))
  })
}

interface Removing {
  readonly ref: ResourceAddress
  readonly current: KubeObject
}

async function removeObject(
  { client }: WriterParts,
  { ref, current }: Removing,
  { mayTakeOver = true, isDryRun = false }: WriteManner,
): Promise<WriteOutcome> {
  // What was paid for goes with the object.
  const owners = foreignOwners(managedOf(current), { mayTakeOver }).filter(({ manager }) => manager !== BILLING_MANAGER)
  const [theirs] = ownedFields(owners, specOf(current))
  if (theirs !== undefined) return { kind: 'managed_elsewhere', manager: theirs.manager, field: '' }
  const { resourceVersion, uid } = current.metadata
  const dry = isDryRun ? { dryRun: ['All'] } : {}
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion, uid }, ...dry }
  return writeOutcome(() => written(client.request({ method: 'DELETE', path: resourcePath(ref), body })))
}

/** The answer to a creation holds the data, which is not read: the caller has it, and nothing here keeps it. */
async function writeSecret(client: KubeClient, secret: WrittenSecret): Promise<WriteOutcome> {
  const { namespace, name, values, tenant, owner } = secret
  const found = owner === null ? null : await get(client, owner)
  const ownerReferences =
    owner === null || found === null
      ? []
      : [{ apiVersion: RESOURCE_API_VERSION, kind: owner.kind, name: owner.name, uid: found.metadata.uid }]
  const labels = {
    'app.kubernetes.io/managed-by': DASHBOARD_MANAGER,
    ...(tenant === null ? {} : { [TENANT_LABEL]: tenant }),
  }
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: DASHBOARD_SECRET_TYPE,
    stringData: values,
    metadata: { name, namespace, labels, ownerReferences },
  }
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?fieldManager=${DASHBOARD_MANAGER}`
  return writeOutcome(() => written(client.request({ method: 'POST', path, body, isAnswerUnread: true })))
}

function writeOutcome(work: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
  return work().catch(outcomeOfError)
}

async function written(sent: Promise<unknown>): Promise<WriteOutcome> {
  await sent
  return { kind: 'written' }
}

function specOf(object: KubeObject): JsonObject {
  return objectOf(object['spec'])
}

function managedOf({ metadata }: KubeObject): readonly ManagedEntry[] {
  return managedFieldsOf(metadata)
}

function collection({ kind, namespace }: ResourceAddress): string {
  const plural = RESOURCE_PLURALS[kindOf(kind)]
  return `/apis/${RESOURCE_API_VERSION}/namespaces/${encodeURIComponent(namespace)}/${plural}`
}

function resourcePath(ref: ResourceAddress): string {
  return `${collection(ref)}/${encodeURIComponent(ref.name)}`
}
