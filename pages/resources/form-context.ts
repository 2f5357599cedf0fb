/** What the fields of one form share: the spec as it is being changed, and what is said of its fields. */

import { createContext, useContext } from 'react'

import type { ResourceSpec } from '../data/resources.ts'
import type { Place } from './spec-edit.ts'

/** What is to be kept in a Secret: not sent yet, and forgotten with the form. */
export interface NewSecret {
  /** Of the reference. */
  readonly place: Place
  /** Whether the reference names the key too. */
  readonly isByKey: boolean
  readonly values: Readonly<Record<string, string>>
}

export interface SpecForm {
  readonly organization: string
  readonly spec: ResourceSpec
  readonly set: (place: Place, value: unknown) => void
  /** What is wrong with the field; null: nothing. */
  readonly problemOf: (place: Place) => string | null
  /** Who else owns it, so that it is shown and not changed; null: it may be changed. */
  readonly managerOf: (place: Place) => string | null
  readonly secrets: readonly NewSecret[]
  /** Without values: it stays as it is. */
  readonly setSecret: (secret: NewSecret) => void
}

const Context = createContext<SpecForm | null>(null)
export const SpecFormProvider = Context.Provider

export function useSpecForm(): SpecForm {
  const form = useContext(Context)
  if (form === null) throw new Error('the field stands in no form')
  return form
}
