/** Who owns which fields of a spec, from the list that the API server keeps with every object. */

import { isText, orAbsent, shapeOf } from '../guards.ts'
import { isObject, memberOf, type JsonObject } from '../strict-json.ts'
import { withDefaults } from '../schema/schema-values.ts'
import type { JsonSchema } from '../schema/json-schema.ts'

export const DASHBOARD_MANAGER = 'whence-dashboard'
/** Annotation that says who made a change in the dashboard, with its proof. */
export const CHANGED_BY_ANNOTATION = 'whence.dev/changed-by'
/** Manager of the fields that payments decide. */
export const BILLING_MANAGER = 'whence-billing'
/** Managers of fields that people set by hand. A tool would set its fields again, but nothing sets these again. */
const BY_HAND = /^kubectl(-|$)/

/** An entry of `metadata.managedFields`. */
export type ManagedEntry = KnownEntry & JsonObject

interface KnownEntry {
  readonly manager?: string
  readonly operation?: string
  readonly time?: string
  readonly subresource?: string
  readonly fieldsV1?: FieldTree
}

/** `f:` and a name, `k:` and the keys of a list's entry, or `v:` and a value of a set; a leaf is empty. */
interface FieldTree {
  readonly [step: string]: FieldTree
}

const isEntry = shapeOf<KnownEntry>({
  manager: orAbsent(isText),
  operation: orAbsent(isText),
  time: orAbsent(isText),
  subresource: orAbsent(isText),
  fieldsV1: orAbsent(isFieldTree),
})

function isFieldTree(value: unknown): value is FieldTree {
  return isObject(value) && Object.values(value).every(isFieldTree)
}

/** Who owns which fields of an object, by its metadata. */
export function managedFieldsOf(metadata: unknown): readonly ManagedEntry[] {
  const entries = memberOf(metadata, 'managedFields')
  return Array.isArray(entries) ? entries.filter((entry) => isObject(entry)).filter(isEntry) : []
}

export interface FieldOwner {
  readonly manager: string
  /** Fields of the spec. */
  readonly tree: FieldTree
}

export interface OwnedField {
  /** JSON pointer into the object. */
  readonly field: string
  readonly manager: string
}

/** Entries that own something of the spec. */
export function ownsSpec({ subresource, fieldsV1 = {} }: ManagedEntry): boolean {
  return subresource === undefined && 'f:spec' in fieldsV1
}

/** Who last wrote the spec, and when; null if no owner of any of its fields is known. */
export interface LastWriter {
  readonly manager: string
  /** RFC 3339; empty if nothing says so. */
  readonly time: string
}

export function lastWriterOf(managed: readonly ManagedEntry[]): LastWriter | null {
  const writers = managed.filter(ownsSpec).map(({ manager = '', time = '' }) => ({ manager, time }))
  return writers.reduce<LastWriter | null>(
    (last, each) => (last === null || each.time >= last.time ? each : last),
    null,
  )
}

export function isByHand(manager: string): boolean {
  return BY_HAND.test(manager)
}

/** Everyone but the dashboard. People who set fields by hand are included, unless their fields may be taken over. */
export function foreignOwners(
  managed: readonly ManagedEntry[],
  { mayTakeOver }: { readonly mayTakeOver: boolean },
): readonly FieldOwner[] {
  return managed.filter(ownsSpec).flatMap(({ manager = '', fieldsV1 = {} }) => {
    if (manager === DASHBOARD_MANAGER || (mayTakeOver && isByHand(manager))) return []
    return [{ manager, tree: fieldsV1['f:spec'] ?? {} }]
  })
}

/** The fields that these entries own, in the order of the tree. */
export function ownedFields(owners: readonly FieldOwner[], spec: unknown): readonly OwnedField[] {
  return owners.flatMap(({ manager, tree }) => leaves(tree, spec, '/spec').map((field) => ({ field, manager })))
}

function leaves(tree: FieldTree, value: unknown, pointer: string): readonly string[] {
  const steps = Object.entries(tree).filter(([step]) => step !== '.')
  if (steps.length === 0) return [pointer]
  return steps.flatMap(([step, below]) => {
    const name = stepName(step, value)
    return name === null ? [] : leaves(below, memberOf(value, name), `${pointer}/${escapedName(name)}`)
  })
}

/** The name or index that a step leads to; null if it leads nowhere. */
function stepName(step: string, value: unknown): string | null {
  if (step.startsWith('f:')) return step.slice(2)
  if (!Array.isArray(value)) return null
  const index = value.findIndex((item) => isStepTo(step, item))
  return index === -1 ? null : String(index)
}

function isStepTo(step: string, item: unknown): boolean {
  const wanted: unknown = jsonOrNull(step.slice(2))
  if (step.startsWith('v:')) return item === wanted
  if (!step.startsWith('k:') || typeof wanted !== 'object' || wanted === null) return false
  return Object.entries(wanted).every(([name, key]) => memberOf(item, name) === key)
}

/** The first field of another manager that a change touches; null if it touches none. */
export function foreignChange(
  schema: JsonSchema,
  change: { readonly before: JsonObject; readonly after: JsonObject },
  owners: readonly FieldOwner[],
): OwnedField | null {
  const before = withDefaults(schema, change.before)
  const after = withDefaults(schema, change.after)
  for (const { manager, tree } of owners) {
    const field = changedIn(tree, before, after, '/spec')
    if (field !== null) return { field, manager }
  }
  return null
}

function changedIn(tree: FieldTree, before: unknown, after: unknown, pointer: string): string | null {
  if (isSame(before, after)) return null
  const steps = Object.entries(tree).filter(([step]) => step !== '.')
  const isBranch = isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)
  if (steps.length === 0 || !isBranch) return pointer
  for (const [step, below] of steps) {
    const was = stepName(step, before)
    const is = stepName(step, after)
    // Another manager has removed it already.
    if (was === null) continue
    const found = changedIn(
      below,
      memberOf(before, was),
      is === null ? undefined : memberOf(after, is),
      `${pointer}/${escapedName(was)}`,
    )
    if (found !== null) return found
  }
  return null
}

/** What the dashboard applies: everything it wants, except what others own and have already set to the same value. */
export function fieldsToApply(wanted: JsonObject, stored: unknown, owners: readonly FieldOwner[]): JsonObject {
  return withoutTheirs(
    wanted,
    stored,
    owners.map(({ tree }) => tree),
  )
}

function withoutTheirs(wanted: JsonObject, stored: unknown, trees: readonly FieldTree[]): JsonObject {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([name, value]) => {
      const below = trees.flatMap((tree) => tree[`f:${name}`] ?? [])
      if (below.length === 0) return [[name, value]]
      const there = memberOf(stored, name)
      const isBranch = isObject(value) && isContainer(there)
      if (!isBranch) return isSame(value, there) ? [] : [[name, value]]
      const kept = withoutTheirs(value, there, below)
      return Object.keys(kept).length === 0 ? [] : [[name, kept]]
    }),
  )
}

/**
 * The same list, with the spec's fields of the dashboard's plain writes moved into the entry of what it applies, and also those set
 * by hand if they may be taken over; null if there are none. Only applied fields can be removed by applying without them.
 */
export function adopted(
  managed: readonly ManagedEntry[],
  {
    mayTakeOver,
    apiVersion,
    now,
  }: { readonly mayTakeOver: boolean; readonly apiVersion: string; readonly now: string },
): readonly ManagedEntry[] | null {
  const isApplied = ({ manager, operation, subresource }: ManagedEntry): boolean =>
    manager === DASHBOARD_MANAGER && operation === 'Apply' && subresource === undefined
  const isTaken = (entry: ManagedEntry): boolean => {
    const { manager = '' } = entry
    if (isApplied(entry)) return false
    if (manager === DASHBOARD_MANAGER) return ownsSpec(entry) || signsOurs(entry)
    return ownsSpec(entry) && mayTakeOver && isByHand(manager)
  }
  const taken = managed.filter(isTaken)
  if (taken.length === 0) return null
  const own = managed.find(isApplied)
  const specs = [...taken, ...(own === undefined ? [] : [own])].map(({ fieldsV1 = {} }) => fieldsV1['f:spec'] ?? {})
  const base = own ?? { manager: DASHBOARD_MANAGER, operation: 'Apply', apiVersion, time: now, fieldsType: 'FieldsV1' }
  const signature = taken.some(signsOurs) ? SIGNATURE : {}
  const fieldsV1 = { ...united(own?.fieldsV1 ?? {}, signature), 'f:spec': specs.reduce(united, {}) }
  const applied = { ...base, fieldsV1 }
  const rest = managed.flatMap((entry) => {
    if (entry === own) return []
    if (!isTaken(entry)) return [entry]
    const { 'f:spec': _spec, ...others } = withoutSignature(entry)
    return Object.keys(others).length === 0 ? [] : [{ ...entry, fieldsV1: others }]
  })
  return [applied, ...rest]
}

/** The annotation that proves who changed the spec is applied together with the spec. */
const SIGNATURE_STEP = `f:${CHANGED_BY_ANNOTATION}`
const SIGNATURE: FieldTree = { 'f:metadata': { 'f:annotations': { [SIGNATURE_STEP]: {} } } }

/** An annotation that another manager wrote belongs to that manager. */
function signsOurs({ manager, subresource, fieldsV1 }: ManagedEntry): boolean {
  if (manager !== DASHBOARD_MANAGER || subresource !== undefined) return false
  return fieldsV1?.['f:metadata']?.['f:annotations']?.[SIGNATURE_STEP] !== undefined
}

function withoutSignature(entry: ManagedEntry): FieldTree {
  const { fieldsV1 = {} } = entry
  if (!signsOurs(entry)) return fieldsV1
  const { 'f:metadata': metadata = {}, ...rest } = fieldsV1
  const { 'f:annotations': annotations = {}, ...otherMetadata } = metadata
  const { [SIGNATURE_STEP]: _signature, ...otherAnnotations } = annotations
  const isBare = Object.keys(otherAnnotations).every((step) => step === '.')
  const left = isBare ? otherMetadata : { ...otherMetadata, 'f:annotations': otherAnnotations }
  return Object.keys(left).length === 0 ? rest : { ...rest, 'f:metadata': left }
}

function united(a: FieldTree, b: FieldTree): FieldTree {
  const steps = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...steps].map((step) => [step, united(a[step] ?? {}, b[step] ?? {})]))
}

/** Whether two values are equal, whatever the order of their members. */
export function isSame(a: unknown, b: unknown): boolean {
  return canonicalText(a) === canonicalText(b)
}

export function canonicalText(value: unknown): string {
  return JSON.stringify(value ?? null, (_name, member: unknown) =>
    isContainer(member) && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function escapedName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
