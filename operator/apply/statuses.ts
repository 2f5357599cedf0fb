/** Brings the status of every object up to date: one write if it has changed, none otherwise. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import { type Condition, conditionsOf, sayTheSame, conditionsIn } from '../../domain/resources/conditions.ts'
import type { ResourceKind } from '../../domain/resources/resources.ts'
import type { KubeObject } from '../../runtime/kube/objects.ts'
import type { Decision } from '../decide/decide.ts'
import type { DecidedFields, DecidedObject } from '../gather/known-objects.ts'
import { installationOfObject } from '../gather/ownership.ts'
import type { Audit } from './audit.ts'
import type { StatusWriter } from './writer.ts'
import { RECONCILE_ANNOTATION } from '../gather/annotations.ts'
import { objectOf, type JsonObject } from '../../domain/strict-json.ts'

interface StatusesOptions {
  readonly writer: StatusWriter
  /** The object as it is in the cluster now, by `objectKey`. */
  readonly current: (key: string) => KubeObject | undefined
  /** Called after a write that changed the condition `Ready`. */
  readonly onTransition: (transition: Transition) => void
  /** The installation that these objects belong to. */
  readonly installation: string
  /** Null: changes leave no entries in the activity. */
  readonly audit: Audit | null
  readonly nowMs: () => number
}

/** The status is right, but the event log did not accept the entry about the object's change. */
class EntryDue extends Error {
  override readonly name = 'EntryDue'
}

/** A change of an object's readiness; `before` is null at its first status. */
export interface Transition {
  readonly decided: DecidedObject
  readonly before: Condition | null
  readonly after: Condition
}

interface Statuses {
  /** Keys of the objects whose status may need a write; cheap for unchanged ones. */
  readonly review: (decision: Decision, isPublished: boolean) => readonly string[]
  /** Writes the status of one object if it has to be. */
  readonly settle: (key: string) => Promise<void>
}

export function createStatuses(options: StatusesOptions): Statuses {
  let decision: Decision | null = null
  let isPublished = false
  /** By key: the object and its decision when its status was last found right. */
  const settled = new Map<string, Settled>()
  /** By key: written, but not seen in the copy yet. */
  const written = new Map<string, WrittenStatus>()
  return {
    review: (next, nextIsPublished) => {
      decision = next
      isPublished = nextIsPublished
      if (settled.size > next.objects.size) {
        for (const key of settled.keys()) if (!next.objects.has(key)) settled.delete(key)
        for (const key of written.keys()) if (!next.objects.has(key)) written.delete(key)
      }
      const due: string[] = []
      for (const [key, decided] of next.objects) {
        if (!isSettled(settled.get(key), decided, isPublished)) due.push(key)
      }
      return due
    },
    settle: async (key) => {
      const decided = decision?.objects.get(key)
      const current = options.current(key)
      if (decided === undefined || current === undefined) return
      if (!isStillDecided(decided, current, options.installation)) return
      const seen = settledAs({ ...decided, object: current }, isPublished)
      // Our own write counts before the copy of the cluster shows it.
      const last = written.get(key)
      if (last !== undefined && isShown(last, current)) written.delete(key)
      const there = written.get(key)?.status ?? statusIn(current)
      const due = await entryDue(options.audit, { kind: decided.kind, object: current }, there)
      const wanted = newStatus(decided, current, {
        isPublished,
        due,
        nowMs: options.nowMs(),
        installation: options.installation,
      })
      if (!isSameStatus(there, wanted)) {
        const version = await options.writer.applyStatus(decided.kind, claimed(current), wanted)
        written.set(key, { uid: current.metadata.uid, version, status: wanted })
        tellTransition(options, decided, { before: conditionsIn(there), after: wanted.conditions })
      }
      if (due !== null) throw new EntryDue(`the event log has no entry of generation ${current.metadata.generation}`)
      settled.set(key, seen)
    },
  }
}

/** A newer spec, or another owner, is for the next decision to take into account. */
function isStillDecided({ object }: DecidedObject, current: KubeObject, installation: string): boolean {
  const owner = installationOfObject(current)
  if (owner !== null && owner !== installation) return false
  return current.metadata.generation === object.metadata.generation
}

/** Null if every generation has its entry; otherwise the last one that has. */
async function entryDue(
  audit: Audit | null,
  audited: { readonly kind: ResourceKind; readonly object: KubeObject },
  there: JsonObject,
): Promise<number | null> {
  if (audit === null) return null
  const recorded = Math.max(Number(there['recordedGeneration'] ?? there['observedGeneration'] ?? 0), 0)
  const reached = await audit.record(audited, recorded)
  return reached < (audited.object.metadata.generation ?? 0) ? reached : null
}

interface Settled {
  readonly version: string
  readonly isPublished: boolean
  readonly problems: string
  readonly fields: DecidedFields
  /** The last decision found to be equal: the same object again needs no comparison. */
  decided: DecidedObject | null
}

/** Equal values mean equal statuses; if the status could differ, so do they. */
function settledAs({ object, problems, fields }: DecidedObject, isPublished: boolean): Settled {
  const version = object.metadata.resourceVersion ?? ''
  return { version, isPublished, problems: problemsKey(problems), fields, decided: null }
}

function problemsKey(problems: readonly CatalogProblem[]): string {
  return problems.length === 0
    ? ''
    : JSON.stringify(problems.map(({ reason, message, isWarning }) => [reason, message, isWarning]))
}

function isSettled(settled: Settled | undefined, decided: DecidedObject, isPublished: boolean): boolean {
  if (settled?.isPublished !== isPublished) return false
  if (settled.decided === decided) return true
  const { object, problems, fields } = decided
  if (settled.version !== object.metadata.resourceVersion || settled.problems !== problemsKey(problems)) return false
  if (settled.fields !== fields && JSON.stringify(settled.fields) !== JSON.stringify(fields)) return false
  settled.decided = decided
  return true
}

interface StatusContext {
  readonly isPublished: boolean
  /** The last generation with an entry in the activity, if later ones have none yet. */
  readonly due: number | null
  readonly nowMs: number
  readonly installation: string
}

interface Status {
  readonly observedGeneration: number
  readonly conditions: readonly Condition[]
  readonly [field: string]: unknown
}

function newStatus(
  { kind, problems, fields }: DecidedObject,
  current: KubeObject,
  { isPublished, due, nowMs, installation }: StatusContext,
): Status {
  const generation = current.metadata.generation ?? 0
  const now = `${new Date(nowMs).toISOString().slice(0, 19)}Z`
  const conditions = conditionsOf({ kind, generation, problems, isPublished, previous: conditionsIn(current), now })
  const asked = current.metadata.annotations?.[RECONCILE_ANNOTATION]
  // As long as the copy of the object admits: a program that waits for its value finds all of it.
  const handled = asked === undefined ? {} : { lastHandledReconcileAt: asked }
  const lagging = due === null ? {} : { recordedGeneration: due }
  return { observedGeneration: generation, ...lagging, installation, conditions, ...handled, ...fields }
}

/** The first writer gets it: if two installations want an object without an owner, one must lose. */
function claimed(current: KubeObject): KubeObject {
  if (installationOfObject(current) !== null) {
    const { resourceVersion: _resourceVersion, ...metadata } = current.metadata
    return { ...current, metadata }
  }
  return current
}

interface WrittenStatus {
  readonly uid: string | undefined
  /** Of the object after the write. */
  readonly version: string
  readonly status: Status
}

/** Versions of one kind of object are increasing numbers. */
function isShown({ uid, version }: WrittenStatus, { metadata }: KubeObject): boolean {
  const isNumber = (text: string) => /^[0-9]+$/.test(text)
  const now = metadata.resourceVersion ?? ''
  if (metadata.uid !== uid || !isNumber(version) || !isNumber(now)) return true
  return BigInt(now) >= BigInt(version)
}

function statusIn(object: KubeObject): JsonObject {
  return objectOf(object['status'])
}

/** Fields that another writer owns, such as traffic figures, are not compared. */
function isSameStatus(there: JsonObject, wanted: Status): boolean {
  const { conditions, ...fields } = wanted
  const names = new Set([...Object.keys(fields), ...OWN_FIELDS])
  return [...names].every((name) => there[name] === fields[name]) && sayTheSame(conditionsIn(there), conditions)
}

const OWN_FIELDS = [
  'observedGeneration',
  'recordedGeneration',
  'installation',
  'lastHandledReconcileAt',
  'id',
  'snippet',
  'hookCommand',
  'websites',
] as const

function tellTransition(
  { onTransition }: StatusesOptions,
  decided: DecidedObject,
  lists: { readonly before: readonly Condition[]; readonly after: readonly Condition[] },
): void {
  const readyIn = (conditions: readonly Condition[]) => conditions.find(({ type }) => type === 'Ready')
  const before = readyIn(lists.before) ?? null
  const after = readyIn(lists.after)
  if (after === undefined) return
  if (before?.status !== after.status || before.reason !== after.reason) onTransition({ decided, before, after })
}
