/** The description, message and state of a form field. */

import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { useSpecForm } from './form-context.ts'
import { specPointer, fieldValue, type Place } from './spec-edit.ts'
import { HINTS, labelOf } from './words.ts'

export interface FieldProps {
  readonly place: Place
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

export function useField({ place, schema, isRequired }: FieldProps) {
  const form = useSpecForm()
  const lock = form.lockOf(place)
  const name = String(place.at(-1))
  const own = HINTS[name] ?? schema.description ?? ''
  return {
    form,
    value: fieldValue(form.spec, place),
    set: (value: unknown) => form.set(place, value),
    words: {
      label: labelOf(name),
      description: lock === null ? own : `${lock} ${own}`,
      required: isRequired,
      disabled: lock !== null,
      error: form.problemOf(place),
      id: specPointer(place),
    },
  }
}
