/** The state that the fields of a form share: the edited spec, and messages about its fields. */

import { createContext, useContext } from 'react'

import type { ResourceSpec } from '../data/resources.ts'
import type { Place } from './spec-edit.ts'

/** Values for a new Secret: not sent yet, and forgotten when the form closes. */
export interface NewSecret {
  /** Place of the reference. */
  readonly place: Place
  /** Whether the reference names the key too. */
  readonly isByKey: boolean
  readonly values: Readonly<Record<string, string>>
}

export interface SpecForm {
  readonly organization: string
  readonly spec: ResourceSpec
  readonly set: (place: Place, value: unknown) => void
  /** What is wrong with the field; null if nothing is. */
  readonly problemOf: (place: Place) => string | null
  /** Why the field is read-only, in a sentence; null if it may be changed. */
  readonly lockOf: (place: Place) => string | null
  readonly secrets: readonly NewSecret[]
  /** Without values, the Secret stays as it is. */
  readonly setSecret: (secret: NewSecret) => void
}

const Context = createContext<SpecForm | null>(null)
export const SpecFormProvider = Context.Provider

export function useSpecForm(): SpecForm {
  const form = useContext(Context)
  if (form === null) throw new Error('the field is outside of a form')
  return form
}
