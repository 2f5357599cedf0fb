/** The description, message and state of a form field. */

import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { useSpecForm } from './form-context.ts'
import { specPointer, fieldValue, type Place } from './spec-edit.ts'
import { labelOf } from './words.ts'

export interface FieldProps {
  readonly place: Place
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

export function useField({ place, schema, isRequired }: FieldProps) {
  const form = useSpecForm()
  const manager = form.managerOf(place)
  const own = schema.description ?? ''
  return {
    form,
    value: fieldValue(form.spec, place),
    set: (value: unknown) => form.set(place, value),
    words: {
      label: labelOf(String(place.at(-1))),
      description: manager === null ? own : `Managed by ${manager}. ${own}`,
      required: isRequired,
      disabled: manager !== null,
      error: form.problemOf(place),
      id: specPointer(place),
    },
  }
}
