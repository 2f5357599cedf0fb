/** Edits of a spec as data: values at pointers, changed fields, and merging two edits. */

import { isList } from '../../domain/guards.ts'
import { memberOf, objectOf } from '../../domain/strict-json.ts'
import type { OwnedField } from '../../domain/resources/field-owners.ts'
import { isSame } from '../../domain/resources/field-owners.ts'
import type { ResourceSpec } from '../data/resources.ts'

/** Names of fields, and places in lists. */
export type Place = readonly (string | number)[]

/** As the API names fields: `/spec/pages/0/url`. */
export function specPointer(place: Place): string {
  return ['/spec', ...place.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')
}

export function fieldValue(spec: unknown, place: Place): unknown {
  return place.reduce<unknown>((value, step) => memberOf(value, String(step)), spec)
}

/** A new spec; `undefined` removes the field. */
export function withValue(spec: ResourceSpec, place: Place, value: unknown): ResourceSpec {
  return objectOf(changed(spec, place, value))
}

function changed(before: unknown, [step, ...rest]: Place, value: unknown): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const list = isList(before) ? before : []
    const next = changed(list[step], rest, value)
    return next === undefined ? list.toSpliced(step, 1) : Object.assign([...list], { [step]: next })
  }
  const fields = objectOf(before)
  const { [step]: own, ...others } = fields
  const next = changed(own, rest, value)
  if (next === undefined) return others
  // Fields keep their order, so that people can compare the texts.
  return Object.hasOwn(fields, step) ? { ...fields, [step]: next } : { ...others, [step]: next }
}

/** Names of top-level fields that differ. */
export function differingFields(before: ResourceSpec, after: ResourceSpec): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => !isSame(before[name], after[name]))
}

/** Applies the changes from `base` to `mine` to `theirs`. */
export function laidOver({
  base,
  mine,
  theirs,
}: Readonly<Record<'base' | 'mine' | 'theirs', ResourceSpec>>): ResourceSpec {
  return differingFields(base, mine).reduce((spec, name) => withValue(spec, [name], mine[name]), theirs)
}

/** The other manager of the field, or of a part of it if it is a list; null if there is none. */
export function fieldManager(readOnly: readonly OwnedField[], place: Place): string | null {
  const pointer = specPointer(place)
  const found = readOnly.find(
    ({ field }) => field === pointer || pointer.startsWith(`${field}/`) || field.startsWith(`${pointer}/`),
  )
  return found?.manager ?? null
}
