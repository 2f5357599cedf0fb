/** Describes a change of an object for the activity: which fields, by which manager, and by which person if that is proven. */

import { PLANS, type Plan } from '../model.ts'
import { canonicalText, escapedName, isSame } from '../resources/field-owners.ts'

type SpecFields = Readonly<Record<string, unknown>>

/** Changes that charts mark: a destination went live, and the origins of a website changed. */
export const MILESTONES = ['destination_live', 'origins_changed'] as const
type ChangeType = 'object_created' | 'object_changed' | 'object_removed' | (typeof MILESTONES)[number]

/** The text of an activity entry about a change, apart from its organisation and time. */
export interface ChangeText {
  readonly type: ChangeType
  readonly fields: readonly string[]
  readonly message: string
}

/** The most fields that are named; a spec has fewer, unless a stranger wrote long lists into it. */
const MOST_FIELDS = 50

/** JSON pointers of the fields that differ, in the order of their names; a list counts as one field. */
function changedFields(before: unknown, after: unknown, pointer = '/spec'): readonly string[] {
  if (isSame(before, after)) return []
  if (!isMapOfFields(before) || !isMapOfFields(after)) return [pointer]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => changedFields(before[name], after[name], `${pointer}/${escapedName(name)}`))
}

/** The text of each field by its JSON pointer; fields are separated as in `changedFields`. */
export function fieldTexts(spec: unknown, pointer = '/spec'): ReadonlyMap<string, string> {
  if (!isMapOfFields(spec)) return new Map([[pointer, canonicalText(spec)]])
  return new Map(
    Object.entries(spec).flatMap(([name, value]) => [...fieldTexts(value, `${pointer}/${escapedName(name)}`)]),
  )
}

type FieldTexts = Readonly<Record<string, string>>

/**
 * The fields whose texts differ, by the pointers of `fieldTexts`, named as by `changedFields`: a part that is wholly new or wholly
 * gone is one field, whatever was inside.
 */
export function fieldsThatDiffer(before: FieldTexts, after: FieldTexts): readonly string[] {
  const differing = Object.keys({ ...before, ...after }).filter((pointer) => before[pointer] !== after[pointer])
  const partsBefore = partsOfFields(before)
  const partsAfter = partsOfFields(after)
  const named = differing.map((pointer) => {
    const isGone = after[pointer] === undefined
    const other = isGone ? after : before
    const parts = isGone ? partsAfter : partsBefore
    // In the other spec, this part is absent or no map of fields.
    return partsUpTo(pointer).find((part) => other[part] !== undefined || !parts.has(part)) ?? pointer
  })
  return [...new Set(named)].sort()
}

/** Pointers of all fields, and of the maps that they are in. */
function partsOfFields(texts: FieldTexts): ReadonlySet<string> {
  return new Set(Object.keys(texts).flatMap(partsUpTo))
}

/** `/spec/a`, then `/spec/a/b`, of the pointer `/spec/a/b`. */
function partsUpTo(pointer: string): readonly string[] {
  const [, root = '', ...names] = pointer.split('/')
  return names.map((_, place) => ['', root, ...names.slice(0, place + 1)].join('/'))
}

/**
 * @param fields the fields that changed; null if the previous state is unknown
 * @param merged how many generations this entry covers
 */
export function changeText(
  type: ChangeText['type'],
  { fields, manager, merged = 1 }: { fields?: readonly string[] | null; manager: string; merged?: number },
): ChangeText {
  const named = (fields ?? []).slice(0, MOST_FIELDS)
  const by = manager === '' ? '' : ` by ${manager}`
  const of = fields === null ? ', which fields is not known' : namedFields(fields ?? [])
  const also = merged > 1 ? ` It stands for ${merged} changes, one soon after the other.` : ''
  return {
    type,
    fields: named,
    message: `${VERBS[type]}${by}${type === 'object_created' || type === 'object_removed' ? '' : of}.${also}`,
  }
}

const VERBS = {
  object_created: 'Created',
  object_changed: 'Changed',
  object_removed: 'No longer there',
  destination_live: 'Went live',
  origins_changed: 'Changed',
} as const satisfies Readonly<Record<ChangeType, string>>

function namedFields(fields: readonly string[]): string {
  const names = fields.slice(0, SHOWN_FIELDS).map((field) => field.replace(/^\/spec\//, ''))
  const more = fields.length > SHOWN_FIELDS ? ` and ${fields.length - SHOWN_FIELDS} more` : ''
  return names.length === 0 ? '' : `: ${names.join(', ')}${more}`
}

const SHOWN_FIELDS = 8

/** `before`: null if the object is new, undefined if its previous state is unknown. */
export function specChange(
  kind: string,
  before: SpecFields | null | undefined,
  after: SpecFields,
): Pick<ChangeText, 'type'> & { readonly fields: readonly string[] | null } {
  const fields = before === null ? [] : before === undefined ? null : changedFields(before, after)
  return { type: changeType({ kind, mode: after['mode'] }, { isNew: before === null, fields }), fields }
}

interface ObjectNow {
  readonly kind: string
  /** As it stands in the spec now. */
  readonly mode: unknown
}

interface SpecDifference {
  readonly isNew: boolean
  /** Null if the previous state is unknown. */
  readonly fields: readonly string[] | null
}

/** What a change of an object is called. */
export function changeType({ kind, mode }: ObjectNow, { isNew, fields }: SpecDifference): ChangeType {
  const isAbout = (field: string): boolean => fields?.includes(field) === true
  if (kind === 'Destination' && mode === 'Live' && (isNew || isAbout('/spec/mode'))) return 'destination_live'
  if (kind === 'Website' && ORIGIN_FIELDS.some(isAbout)) return 'origins_changed'
  return isNew ? 'object_created' : 'object_changed'
}

const ORIGIN_FIELDS = ['/spec/primaryOrigin', '/spec/additionalDomains']

/** The plan that a change gave an organisation; null for any other change, and for a plan that there is not. */
export function planGiven(kind: string, { plan }: { readonly plan?: unknown }, fields: readonly string[]): Plan | null {
  if (kind !== 'Organization' || !fields.includes('/spec/plan')) return null
  return PLANS.find((each) => each === plan) ?? null
}

function isMapOfFields(value: unknown): value is SpecFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
