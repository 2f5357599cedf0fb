/**
 * Makes one activity entry of each generation of an object. The status is its memory: the generation that the status is
 * about has its entry, unless the status itself names an older one. After a crash in between the entry is made again,
 * and is one with the first, as its ID and time follow from the object.
 */

import { sha256Hex } from '../../common/digest.ts'
import { objectKey, shownName } from '../../domain/catalog/objects.ts'
import { LIMITS } from '../../domain/limits.ts'
import { changeText, planGiven, specChange, type ChangeText } from '../../domain/people/change-entry.ts'
import { provenPerson } from '../../domain/people/changed-by.ts'
import type { ActivityRecord } from '../../domain/records.ts'
import { CHANGED_BY_ANNOTATION, type LastWriter } from '../../domain/resources/field-owners.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import { specDigest } from '../../domain/resources/spec-digest.ts'
import type { Decision } from '../decide/decide.ts'
import { isCut, writerIn } from '../gather/copies.ts'
import type { WorldResources } from '../gather/world.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import { timeOrderedId } from '../../runtime/random.ts'
import { objectOf, type JsonObject } from '../../domain/strict-json.ts'

/** What the operator needs of the event log and the keys, neither of which it knows. */
export interface AuditTools {
  /** Resolves when the entry cannot be lost any more. */
  readonly append: (entry: ActivityRecord) => Promise<void>
  /** The key under which the dashboard proves who changed something. */
  readonly changeHash: (text: string) => string
}

/** Whose an object is, and for how long its entries are kept. */
interface AuditOwner {
  readonly organization: string
  readonly logRetentionDays: number
}

interface AuditOptions extends AuditTools {
  readonly ownerOf: (key: string) => AuditOwner
  readonly isThere: (kind: ResourceKind, object: KubeObject) => boolean
  readonly nowMs: () => number
}

/** Null if changes leave no entries. Whose an object is follows from the latest decision. */
export function auditOf(
  audit: AuditTools | null,
  nowMs: () => number,
  resource: WorldResources['resource'],
  decision: () => Decision | null,
): Audit | null {
  if (audit === null) return null
  const ownerOf = (key: string): AuditOwner => {
    const organization = decision()?.owners.get(key) ?? ''
    const known = decision()?.inForce.catalog.organizations.get(organization)
    return { organization, logRetentionDays: known?.logRetentionDays ?? LIMITS.logRetentionDays.fallback }
  }
  const isThere = (kind: ResourceKind, { metadata: { namespace = '', name, uid } }: KubeObject): boolean =>
    resource(kind, namespace, name)?.metadata.uid === uid
  return createAudit({ ...audit, ownerOf, isThere, nowMs })
}

interface AuditedObject {
  readonly kind: ResourceKind
  readonly object: KubeObject
}

export interface Audit {
  /** Makes the entries that are due. Returns the generation up to which there are entries: an older one if the log is unavailable. */
  readonly record: (audited: AuditedObject, recorded: number) => Promise<number>
  /** Makes an entry of each object that no longer exists; `known` are the keys of those that may have existed. */
  readonly recordGone: (known: ReadonlyMap<string, unknown>) => Promise<void>
}

/** While the log is unavailable statuses do not wait for it each time. */
const PAUSE_MS = 1_000
/** Of entries about removals that the log did not accept; the objects are gone, so these are kept nowhere else. */
const MOST_UNSENT = 1_000

function createAudit(options: AuditOptions): Audit {
  const { nowMs } = options
  /** The last object of each key whose changes have their entries. */
  const last = new Map<string, AuditedObject & { readonly owner: AuditOwner }>()
  let unsent: ActivityRecord[] = []
  let awayUntilMs = 0
  const append = async (entry: ActivityRecord): Promise<boolean> => {
    if (nowMs() < awayUntilMs) return false
    try {
      await options.append(entry)
      return true
    } catch {
      awayUntilMs = nowMs() + PAUSE_MS
      return false
    }
  }
  const sendUnsent = async (): Promise<void> => {
    const waiting = unsent.slice(-MOST_UNSENT)
    unsent = []
    for (const entry of waiting) if (!(await append(entry))) unsent.push(entry)
  }
  return {
    async record(audited, recorded) {
      const { kind, object } = audited
      const { name, namespace = '', generation = 0 } = object.metadata
      const key = objectKey(kind, namespace, name)
      const owner = options.ownerOf(key)
      const before = last.get(key)
      if (before !== undefined && before.object.metadata.uid !== object.metadata.uid) {
        // It was deleted and made again between two looks.
        last.delete(key)
        unsent.push(goneEntry(before, before.owner, nowMs()))
      }
      if (unsent.length > 0) await sendUnsent()
      if (generation > recorded) {
        const change = { audited, recorded, before: before?.object }
        if (!(await append(changeEntry(change, owner, options)))) return recorded
      }
      last.set(key, { ...audited, owner })
      return generation
    },
    async recordGone(known) {
      for (const [key, { kind, object, owner }] of last) {
        if (known.has(key) || options.isThere(kind, object)) continue
        last.delete(key)
        unsent.push(goneEntry({ kind, object }, owner, nowMs()))
      }
      await sendUnsent()
    },
  }
}

interface ObservedChange {
  readonly audited: AuditedObject
  /** Generation of the entry before; 0 if there is none. */
  readonly recorded: number
  /** As this process saw it last. */
  readonly before: KubeObject | undefined
}

function changeEntry(change: ObservedChange, owner: AuditOwner, options: AuditOptions): ActivityRecord {
  const { kind, object } = change.audited
  const { uid = '', generation = 0, namespace = '', name, annotations = {} } = object.metadata
  const spec = auditedSpec(object)
  const { type, fields } = specChange(kind, specBefore(change), spec)
  const writer = writerIn(object)
  const merged = generation - change.recorded
  const place = objectKey(kind, namespace, name)
  // A new object has no UID yet when it is signed.
  const subjects = generation === 1 ? [uid, place] : [uid]
  const proof = { subjects, specDigest: specDigest(spec, sha256Hex) }
  const actor = provenPerson(annotations[CHANGED_BY_ANNOTATION], proof, options.changeHash)
  const atMs = writtenAtMs(object, writer) ?? options.nowMs()
  const text = changeText(type, { fields, manager: writer?.manager ?? '', merged })
  const plan = planGiven(kind, spec, text.fields)
  return {
    ...entryAbout({ audited: change.audited, text, owner }, `${uid} ${generation}`, atMs),
    ...namesOf(actor, writer),
    ...(plan === null ? {} : { plan }),
  }
}

function namesOf(
  actor: string | null,
  writer: LastWriter | null,
): { readonly actor?: string; readonly manager?: string } {
  return { ...(actor === null ? {} : { actor }), ...(writer === null ? {} : { manager: writer.manager }) }
}

/** Null: it is new; undefined: its previous state is unknown, or memory has no room for it. */
function specBefore({ audited, recorded, before }: ObservedChange): ReturnType<typeof auditedSpec> | null | undefined {
  if (recorded <= 0) return null
  if (before === undefined || isCut(before) || isCut(audited.object)) return undefined
  const isIt = before.metadata.uid === audited.object.metadata.uid && before.metadata.generation === recorded
  return isIt ? auditedSpec(before) : undefined
}

function goneEntry(audited: AuditedObject, owner: AuditOwner, atMs: number): ActivityRecord {
  const text = changeText('object_removed', { manager: '' })
  return entryAbout({ audited, text, owner }, `${audited.object.metadata.uid ?? ''} gone`, atMs)
}

interface DescribedChange {
  readonly audited: AuditedObject
  readonly text: ChangeText
  readonly owner: AuditOwner
}

const ID_DIGITS = 16

function entryAbout({ audited, text, owner }: DescribedChange, identity: string, atMs: number): ActivityRecord {
  const { namespace = '', name } = audited.object.metadata
  const id = timeOrderedId({ hex: () => sha256Hex(identity).slice(0, ID_DIGITS) }, atMs)
  const { type, fields, message } = text
  return {
    v: 1,
    kind: 'activity',
    id,
    atMs,
    organization: owner.organization,
    website: '',
    type,
    subject: `${audited.kind}/${shownName({ namespace, name })}`,
    message,
    ...(fields.length === 0 ? {} : { fields }),
    logRetentionDays: owner.logRetentionDays,
  }
}

/** From the object itself, so that a repeat has the same time. */
function writtenAtMs({ metadata }: KubeObject, writer: LastWriter | null): number | null {
  const ms = Date.parse(writer?.time || metadata.creationTimestamp || '')
  return Number.isFinite(ms) ? ms : null
}

function auditedSpec({ spec }: KubeObject): JsonObject {
  return objectOf(spec)
}
