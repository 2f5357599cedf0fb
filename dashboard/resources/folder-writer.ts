/**
 * Writes objects into the folder of the embedded program: one file an object, put in place by a rename, so that a crash
 * leaves the one before or the new one. One process writes, and one write follows another.
 */

import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { type JsonObject, objectOf } from '../../domain/strict-json.ts'
import { emptyCompileMemory } from '../../domain/catalog/compile-catalog.ts'
import { TENANT_LABEL } from '../../domain/catalog/objects.ts'
import { CHANGED_BY_ANNOTATION, foreignChange } from '../../domain/resources/field-owners.ts'
import { DASHBOARD_SECRET_TYPE } from '../../domain/resources/envelope.ts'
import { RESOURCE_API_VERSION, specSchemaOf } from '../../domain/resources/resources.ts'
import { withDefaults } from '../../domain/schema/schema-values.ts'
import {
  isWritten,
  manifestText,
  ManifestsUnreadable,
  WRITTEN_PREFIX,
  type ManifestFile,
  type ParsedFile,
} from '../../runtime/catalog/manifests.ts'
import { folderContent, type FolderContent, type FolderRepairs } from '../../runtime/catalog/source.ts'
import { folderVersion } from './folder-inventory.ts'
import { refuseByFolder, WITHOUT_EFFECT, type JudgingParts } from './folder-verdict.ts'
import {
  placeOf,
  ResourcesUnavailable,
  type ResourceAddress,
  type ResourceWriter,
  type StoredObject,
  type WriteManner,
  type WriteOutcome,
  type WrittenObject,
  type WrittenSecret,
} from './writer.ts'
import { readManifest } from '../../domain/resources/envelope.ts'

interface FolderWriterOptions {
  readonly folder: string
  /** Only this writer writes here; created with the first file. */
  readonly written: string
  /** Where `${NAME}` inside Secrets is looked up. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly catalog: WrittenCatalog
  readonly nowMs: () => number
}

/** The catalog that is compiled from these folders. */
interface WrittenCatalog {
  /** Its own if absent. */
  readonly content?: FolderContent
  /** Absent: a repair waits for files of others like everything else. */
  readonly repairs?: FolderRepairs
  /** Makes what was written take effect; resolves with whether it has. */
  readonly refresh: () => Promise<boolean>
}

const DEFAULT_NAMESPACE = 'default'
/** Of a Secret: the ID of the organisation that it counts for. */
const ORGANIZATION_ANNOTATION = 'whence.dev/organization'
/** How many digits the name of a file begins with: the time at which it was created, in milliseconds. */
export const TIME_DIGITS = 13
/** A name of an object may be as long as that of a file, which has a time, an ending, and while it is written two more. */
const NAME_CHARS = 235
/** Counts as a deleted object at once, whereas the watch would wait for a missing file. */
export const REMOVED = '# removed\n'
/** Names of files that are not in place yet. */
export const TEMPORARY = /^\.\d{13}-.+\.tmp$/

/** The options, with what is known of each file's text, and of the folder as it was compiled last. */
type RememberingOptions = FolderWriterOptions & JudgingParts & FolderContent

export function folderWriter(given: FolderWriterOptions): ResourceWriter {
  const content = given.catalog.content ?? folderContent(given)
  const options: RememberingOptions = { ...given, ...content, memory: emptyCompileMemory() }
  let last: Promise<unknown> = Promise.resolve()
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
  return {
    read: (ref, manner) => alone(async () => (await findManifest(ref, options, manner)).found?.stored ?? null),
    create: (object, manner = {}) =>
      alone(async () => {
        const { found, files } = await findManifest(object, options, manner)
        if (found !== null) return { kind: 'conflict' }
        return put({ object, file: newName(object, files, options), files, manner }, options)
      }),
    replace: (object, version, manner = {}) =>
      alone(async () => {
        const { found, files } = await findManifest(object, options, manner)
        const refused = refuseChange(found, version, object) ?? refuseReliance(files, manner, options)
        return refused ?? put({ object, file: found?.file ?? '', files, manner }, options)
      }),
    remove: (ref, version, manner = {}) =>
      alone(async () => {
        const { found, files } = await findManifest(ref, options)
        const refused = refuseChange(found, version, null) ?? refuseReliance(files, manner, options)
        if (refused !== null || found === null) return refused ?? { kind: 'conflict' }
        const { file } = found
        const outcome = refuseByFolder(files, { object: ref, file, text: null }, options)
        if (outcome !== null || manner.isDryRun === true) return outcome ?? { kind: 'written' }
        await store(file, REMOVED, options)
        const isInForce = await options.catalog.refresh()
        await rm(writtenFile(file, options), { force: true })
        return writtenIf(isInForce)
      }),
    writeBilling: (stored, fields) =>
      alone(async () => {
        const { found } = await findManifest(stored, options)
        const object = { ...stored, spec: { ...found?.stored.spec, ...fields } }
        const refused = refuseChange(found, stored.version, object)
        if (refused !== null || found === null) return refused ?? { kind: 'conflict' }
        // What is no longer paid for ends, whatever that leaves out.
        await store(found.file, manifestOf(object, {}), options)
        await options.catalog.refresh()
        return { kind: 'written' }
      }),
    createSecret: (secret) => alone(() => putSecret(secret, options)),
  }
}

interface FoundManifest {
  readonly stored: StoredObject
  readonly file: string
}

async function findManifest(
  ref: ResourceAddress,
  options: RememberingOptions,
  { isRepair = false }: WriteManner = {},
): Promise<{ readonly found: FoundManifest | null; readonly files: readonly ManifestFile[] }> {
  const files =
    isRepair && options.catalog.repairs !== undefined ? options.catalog.repairs.files() : await readFolder(options)
  return { found: manifestIn(files, ref, options), files }
}

function manifestIn(
  files: readonly ManifestFile[],
  ref: ResourceAddress,
  { parse }: RememberingOptions,
): FoundManifest | null {
  for (const file of parse(files)) {
    for (const { value } of file.objects) {
      const found = readManifest(value)
      if (found.kind !== ref.kind || found.name !== ref.name || found.namespace !== ref.namespace) continue
      const spec = found.spec ?? {}
      const managedBy = isWritten(file.name) ? null : file.name
      const readOnly = managedBy === null ? [] : [{ field: '/spec', manager: managedBy }]
      const { kind: of, namespace, name } = ref
      const stored = { kind: of, namespace, name, spec, version: folderVersion(spec), managedBy, readOnly }
      return { stored, file: file.name }
    }
  }
  return null
}

function refuseReliance(
  files: readonly ManifestFile[],
  { reliesOn }: WriteManner,
  options: RememberingOptions,
): WriteOutcome | null {
  if (reliesOn === undefined) return null
  const version = manifestIn(files, reliesOn, options)?.stored.version
  return version === reliesOn.version ? null : { kind: 'conflict' }
}

async function readFolder({ read }: RememberingOptions): Promise<readonly ManifestFile[]> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ManifestsUnreadable)) throw error
    throw new ResourcesUnavailable(error.message, { cause: error })
  }
}

/** `after` null: it is removed. A file that the dashboard did not write is never changed. */
function refuseChange(found: FoundManifest | null, version: string, after: WrittenObject | null): WriteOutcome | null {
  if (found === null) return { kind: 'conflict' }
  const { managedBy, spec: before, kind } = found.stored
  if (managedBy !== null) {
    const whole = [{ manager: managedBy, tree: ofEveryField(before, after?.spec ?? {}) }]
    const theirs = after === null ? null : foreignChange(specSchemaOf(kind), { before, after: after.spec }, whole)
    return { kind: 'managed_elsewhere', manager: managedBy, field: theirs?.field ?? '' }
  }
  return found.stored.version === version ? null : { kind: 'conflict' }
}

function ofEveryField(...specs: readonly object[]): Readonly<Record<string, Record<string, never>>> {
  return Object.fromEntries(specs.flatMap(Object.keys).map((name) => [`f:${name}`, {}]))
}

interface Putting {
  readonly object: WrittenObject
  /** As among the files. */
  readonly file: string
  readonly files: readonly ManifestFile[]
  readonly manner: WriteManner
}

/** What would be refused is not written. */
async function put({ object, file, files, manner }: Putting, options: RememberingOptions): Promise<WriteOutcome> {
  const text = manifestOf(object, manner)
  const refused = refuseByFolder(files, { object, file, text }, options)
  if (refused !== null) return refused
  if (manner.isDryRun === true) return { kind: 'fits', spec: filled(object) }
  await store(file, text, options)
  const isInForce = await options.catalog.refresh()
  const isAmended =
    !isInForce && manner.isRepair === true && options.catalog.repairs?.amend({ name: file, text }) === true
  return writtenIf(isInForce || isAmended)
}

/** Nobody may be told that a right was taken away, or something given, while the catalog of before is still in force. */
function writtenIf(isInForce: boolean): WriteOutcome {
  if (!isInForce) throw new ResourcesUnavailable(WITHOUT_EFFECT)
  return { kind: 'written' }
}

function manifestOf(object: WrittenObject, { sign }: WriteManner): string {
  const { kind, namespace, name, spec } = object
  const annotations =
    sign === undefined ? {} : { annotations: { [CHANGED_BY_ANNOTATION]: sign(placeOf(object), filled(object)) } }
  return manifestText({
    apiVersion: RESOURCE_API_VERSION,
    kind,
    metadata: { name, ...(namespace === DEFAULT_NAMESPACE ? {} : { namespace }), ...annotations },
    spec,
  })
}

/** As in a cluster, where defaults are filled in on the way. */
function filled({ kind, spec }: WrittenObject): JsonObject {
  return objectOf(withDefaults(specSchemaOf(kind), spec))
}

async function putSecret(
  secret: WrittenSecret,
  options: RememberingOptions,
): ReturnType<ResourceWriter['createSecret']> {
  const { namespace, name, room } = secret
  const ref = { kind: 'Secret', namespace, name }
  const { found, files } = await findManifest(ref, options)
  if (found !== null) return { kind: 'conflict' }
  const used = room === undefined ? 0 : countSecrets(room.organization, options.parse(files))
  if (room !== undefined && used >= room.allowed) return { kind: 'full', used }
  await store(newName(ref, files, options), secretManifest(secret), options)
  await options.catalog.refresh()
  return { kind: 'written' }
}

/** How many the dashboard made for this organisation. */
function countSecrets(organization: string, files: readonly ParsedFile[]): number {
  const objects = files.filter(({ name }) => isWritten(name)).flatMap((file) => file.objects)
  return objects.filter(({ value }) => {
    const { kind, annotations } = readManifest(value)
    return kind === 'Secret' && annotations[ORGANIZATION_ANNOTATION] === organization
  }).length
}

function secretManifest({ namespace, name, values, tenant, room }: WrittenSecret): string {
  // Nobody may read the environment of the service by way of a value.
  const stringData = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, value.replaceAll('${', () => '$${')]),
  )
  const labels = tenant === null ? {} : { labels: { [TENANT_LABEL]: tenant } }
  const annotations = room === undefined ? {} : { annotations: { [ORGANIZATION_ANNOTATION]: room.organization } }
  const metadata = { name, ...(namespace === DEFAULT_NAMESPACE ? {} : { namespace }), ...labels, ...annotations }
  return manifestText({ apiVersion: 'v1', kind: 'Secret', type: DASHBOARD_SECRET_TYPE, metadata, stringData })
}

/** On the disk when it resolves, whole or not at all. */
async function store(file: string, text: string, options: FolderWriterOptions): Promise<void> {
  const path = writtenFile(file, options)
  await mkdir(options.written, { recursive: true, mode: 0o700 })
  const temporary = join(options.written, `.${path.slice(options.written.length + 1)}.tmp`)
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
  const folder = await open(options.written, 'r')
  await folder.sync().finally(() => folder.close())
}

function writtenFile(file: string, { written }: FolderWriterOptions): string {
  return join(written, file.slice(WRITTEN_PREFIX.length))
}

/** Begins with the time, since the older of two objects keeps its place: a new one is the youngest, even if the clock was set back. */
function newName(
  { kind, namespace, name }: ResourceAddress,
  files: readonly ManifestFile[],
  { nowMs }: FolderWriterOptions,
): string {
  const newestMs = Math.max(0, ...files.filter((file) => isWritten(file.name)).map((file) => timeIn(file.name)))
  const time = String(Math.max(nowMs(), newestMs + 1)).padStart(TIME_DIGITS, '0')
  const file = `${time}-${kind.toLowerCase()}-${namespace}-${name}`
  // The time tells files apart; the rest is for people.
  return `${WRITTEN_PREFIX}${file.slice(0, NAME_CHARS)}.yaml`
}

/** When an object was created, by the name of its file; 0 if that says nothing. */
function timeIn(file: string): number {
  const digits = file.slice(WRITTEN_PREFIX.length).slice(0, TIME_DIGITS)
  return /^\d{13}$/.test(digits) ? Number(digits) : 0
}
