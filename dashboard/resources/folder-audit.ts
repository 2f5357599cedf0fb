/**
 * Makes one activity entry for each change of an object in the folder of the embedded program. A file beside the data
 * remembers digests of each object's fields, and the entries that are not on the log yet: they are stored first, so that a
 * crash neither loses nor repeats an entry.
 */

import { every, type Repetition } from '../../common/every.ts'
import { open, readFile, rename } from 'node:fs/promises'

import { readRecord } from '../../domain/read-record.ts'
import { shapeOf, isOneOf, mapOf, isText, listOf, parsedAs } from '../../domain/guards.ts'
import { textOf, isObject } from '../../domain/strict-json.ts'
import { sha256Hex } from '../../common/digest.ts'
import { oncePerObject } from '../../domain/once-per-object.ts'
import { shownName, type SourceObject } from '../../domain/catalog/objects.ts'
import { LIMITS } from '../../domain/limits.ts'
import {
  changeText,
  changeType,
  fieldsThatDiffer,
  fieldTexts,
  planGiven,
  type ChangeText,
} from '../../domain/people/change-entry.ts'
import { provenPerson } from '../../domain/people/changed-by.ts'
import { CHANGED_BY_ANNOTATION } from '../../domain/resources/field-owners.ts'
import { encodeRecord, recordKey, type ActivityRecord } from '../../domain/records.ts'
import { RESOURCE_KINDS, SPEC_SCHEMAS, type ResourceKind } from '../../domain/resources/resources.ts'
import { specDigest } from '../../domain/resources/spec-digest.ts'
import { withDefaults } from '../../domain/schema/schema-values.ts'
import type { LogWriter } from '../../ports/event-log/event-log.ts'
import type { FolderCatalog } from '../../runtime/catalog/source.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Stamps } from '../../runtime/random.ts'
import { timeOrderedId } from '../../runtime/random.ts'
import { fileOf } from './folder-inventory.ts'
import { placeOf } from './writer.ts'
import { readManifest } from '../../domain/resources/envelope.ts'

interface FolderAuditParts {
  readonly catalog: FolderCatalog
  /** File of its memory; created with the first change. */
  readonly file: string
  readonly eventLog: LogWriter
  readonly changeHash: (text: string) => string
  readonly stamps: Stamps
  readonly logger: Logger
}

interface Memory {
  readonly v: 1
  readonly objects: Readonly<Record<string, RecordedObject>>
  /** Entries that may not be on the log yet. */
  readonly due: readonly ActivityRecord[]
}

interface RecordedObject {
  /** ID of the organisation it belongs to. */
  readonly owner: string
  /** Keyed digests of its fields by JSON pointer. */
  readonly fields: Readonly<Record<string, string>>
}

export interface FolderAudit {
  /** Resolves when the current work is done. */
  readonly close: Repetition['close']
}

const RETRY_MS = 30_000
const DIGEST_DIGITS = 16

/** `retryMs`: time until entries that the log refused are written again. */
export function startFolderAudit(parts: FolderAuditParts, retryMs = RETRY_MS): FolderAudit {
  const { logger, catalog } = parts
  const recording = every(Infinity, changeRecorder(parts), {
    retryMs,
    onFailure: (error) =>
      logger.warn({ err: error, task: 'audit_folder' }, 'changes of objects have no entries in the activity yet'),
  })
  const unsubscribe = catalog.onChange(recording.now)
  return {
    close: () => {
      unsubscribe()
      return recording.close()
    },
  }
}

/** Digests of an object are made once: a change affects few, and the digests of all would hold up the requests of a large folder. */
function changeRecorder(parts: FolderAuditParts): () => Promise<void> {
  const { file, eventLog, changeHash } = parts
  const digested = oncePerObject((source: SourceObject) => digestedObject(source, changeHash))
  /** As in the file; null until it was read. */
  let memory: Memory | null = null
  const remember = async (next: Memory): Promise<void> => {
    await writeMemory(file, next)
    memory = next
  }
  return async () => {
    memory ??= await readMemory(file)
    const seen = seenObjects(parts, digested)
    const due = [...memory.due, ...dueEntries(memory, seen, parts)]
    if (due.length === 0) return
    const objects = Object.fromEntries([...seen].map(([key, { owner, fields }]) => [key, { owner, fields }]))
    await remember({ v: 1, objects, due })
    const entries = due.map((entry) => ({ key: recordKey(entry, entry.id), value: encodeRecord(entry) }))
    await eventLog.append('activity', entries)
    await remember({ v: 1, objects, due: [] })
  }
}

interface ToldObject {
  /** As activity names it. */
  readonly subject: string
  readonly actor: string | null
  /** Name of the file. */
  readonly manager: string
  /** As they stand in the spec. */
  readonly plan: unknown
  readonly mode: unknown
}

interface SeenObject extends RecordedObject, ToldObject {}

/** What follows from an object alone. */
interface DigestedObject extends ToldObject {
  readonly key: string
  readonly fields: RecordedObject['fields']
}

function seenObjects(
  { catalog }: FolderAuditParts,
  digested: (source: SourceObject) => DigestedObject | null,
): ReadonlyMap<string, SeenObject> {
  const { objects, compilation } = catalog.latest()
  const seen = new Map<string, SeenObject>()
  for (const source of objects) {
    const digests = digested(source)
    if (digests !== null) seen.set(digests.key, { ...digests, owner: compilation.owners.get(digests.key) ?? '' })
  }
  return seen
}

/** Null if nothing is recorded about it. */
function digestedObject({ value, locate }: SourceObject, changeHash: (text: string) => string): DigestedObject | null {
  const { kind: named, namespace, name, annotations, spec } = readManifest(value)
  const kind = RESOURCE_KINDS.find((each) => each === named)
  if (kind === undefined || name === '' || spec === null) return null
  const ref = { kind, namespace, name }
  const key = placeOf(ref)
  const digests = [...fieldTexts(spec)].map(
    ([field, text]) => [field, changeHash(text).slice(0, DIGEST_DIGITS)] as const,
  )
  return {
    key,
    fields: Object.fromEntries(digests),
    subject: `${kind}/${shownName(ref)}`,
    actor: provenPerson(textOf(annotations[CHANGED_BY_ANNOTATION]), proofOf(key, kind, spec), changeHash),
    manager: fileOf(locate('')),
    plan: spec['plan'],
    mode: spec['mode'],
  }
}

function proofOf(place: string, kind: ResourceKind, spec: object) {
  return { subjects: [place], specDigest: specDigest(withDefaults(SPEC_SCHEMAS[kind], spec), sha256Hex) }
}

function dueEntries(
  { objects }: Memory,
  seen: ReadonlyMap<string, SeenObject>,
  parts: FolderAuditParts,
): readonly ActivityRecord[] {
  const changed = [...seen].flatMap(([key, object]) => {
    const before = objects[key]
    if (before?.fields === object.fields) return []
    const fields = before === undefined ? [] : fieldsThatDiffer(before.fields, object.fields)
    if (before !== undefined && fields.length === 0) return []
    const isNew = before === undefined
    const [kind = ''] = key.split('/')
    const text = changeText(changeType({ kind, mode: object.mode }, { isNew, fields }), { ...object, fields })
    return [folderEntry({ ...object, text }, parts)]
  })
  const gone = Object.entries(objects).flatMap(([key, { owner }]) => {
    if (seen.has(key)) return []
    const [kind = '', namespace = '', name = ''] = key.split('/')
    const text = changeText('object_removed', { manager: '' })
    const subject = `${kind}/${shownName({ namespace, name })}`
    return [folderEntry({ owner, subject, actor: null, manager: '', plan: null, mode: null, text }, parts)]
  })
  return [...changed, ...gone]
}

interface FolderChange extends ToldObject {
  readonly owner: string
  readonly text: ChangeText
}

function folderEntry({ text, ...object }: FolderChange, parts: FolderAuditParts): ActivityRecord {
  const { owner, subject, actor, manager } = object
  const { catalog, stamps } = parts
  const atMs = stamps.nowMs()
  const { type, fields, message } = text
  const plan = planGiven(subject.split('/')[0] ?? '', object, fields)
  return {
    v: 1,
    kind: 'activity',
    id: timeOrderedId(stamps.randomness, atMs),
    atMs,
    organization: owner,
    website: '',
    type,
    subject,
    message,
    ...(actor === null ? {} : { actor }),
    ...(manager === '' ? {} : { manager }),
    ...(fields.length === 0 ? {} : { fields }),
    ...(plan === null ? {} : { plan }),
    logRetentionDays: catalog.current().organizations.get(owner)?.logRetentionDays ?? LIMITS.logRetentionDays.fallback,
  }
}

const isMemory = shapeOf<Memory>({
  v: isOneOf([1]),
  objects: mapOf(shapeOf<RecordedObject>({ owner: isText, fields: mapOf(isText) })),
  due: listOf(isActivity),
})

/** Those that this process wrote before; the log's readers check the rest. */
function isActivity(value: unknown): value is ActivityRecord {
  return isObject(value) && readRecord('activity', JSON.stringify(value)).kind === 'record'
}

const NOTHING: Memory = { v: 1, objects: {}, due: [] }

/** An unreadable file counts as missing: every object then gets one more entry. */
async function readMemory(file: string): Promise<Memory> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return NOTHING
  return parsedAs(isMemory, text) ?? NOTHING
}

async function writeMemory(file: string, memory: Memory): Promise<void> {
  const temporary = `${file}.tmp`
  const handle = await open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(memory))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}
