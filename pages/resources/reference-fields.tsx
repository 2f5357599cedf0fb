/** Fields that refer to other objects: a website, or credentials, which can be written but not read. */

import { Button, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'

import { objectOf, textOf } from '../../domain/strict-json.ts'
import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { resourcesQuery } from '../data/resources.ts'
import { useSpecForm } from './form-context.ts'
import { specPointer, type Place } from './spec-edit.ts'
import { useField, type FieldProps } from './use-field.ts'

export function WebsiteField(props: FieldProps): ReactNode {
  const { form, value, set, words } = useField(props)
  const { data = [] } = useQuery(resourcesQuery(form.organization, 'Website'))
  const { name, namespace } = objectOf(value)
  const ownPlace = (each: { readonly namespace: string; readonly name: string }) => `${each.namespace}/${each.name}`
  const current = data.find((each) => each.name === name && (namespace ?? each.namespace) === each.namespace)
  return (
    <Select
      {...words}
      data={data.map((each) => ({ value: ownPlace(each), label: each.name }))}
      allowDeselect={false}
      value={current === undefined ? null : ownPlace(current)}
      onChange={(chosen) => {
        const website = data.find((each) => ownPlace(each) === chosen)
        if (website !== undefined) set({ name: website.name })
      }}
    />
  )
}

const BUCKET_KEYS: readonly string[] = ['access-key-id', 'secret-access-key']

/** The sets of keys that the Secret may have; for a reference that names a key, one set of one key. */
function keySets(place: Place, field: string): readonly (readonly string[])[] {
  const block = place.at(-2)
  const reading = Object.values(PROVIDER_DESCRIPTORS).find((each) => each.block.field === block)?.block.secret
  if (reading !== undefined && 'sets' in reading) return reading.sets.map((set) => Object.keys(set))
  return block === 's3' ? [BUCKET_KEYS] : [[keyOf(field)]]
}

/** `apiSecretRef`: api-secret. */
function keyOf(field: string): string {
  return field.replace(/Ref$/, '').replace(/([A-Z])/g, (_, letter: string) => `-${letter.toLowerCase()}`)
}

/** Shows the name of the Secret, never its values. Saving the object stores a new value in a new Secret. */
export function SecretField(props: FieldProps): ReactNode {
  const { place, schema } = props
  const { form, value, words } = useField(props)
  const isByKey = schema.required?.includes('key') === true
  const { name } = objectOf(value)
  const [isReplacing, setIsReplacing] = useState(name === undefined)
  const sets = keySets(place, String(place.at(-1)))
  const stop = (): void => {
    form.setSecret({ place, isByKey, values: {} })
    setIsReplacing(false)
  }
  return (
    <fieldset className="group" id={words.id}>
      <legend>{words.label}</legend>
      <p className="hint">
        {name === undefined ? 'Not set yet.' : `Kept in the Secret ${textOf(name)}.`} What you type here is kept in a
        new Secret that nobody can read here again.
      </p>
      {isReplacing ? (
        <Values place={place} sets={sets} isByKey={isByKey} isDisabled={words.disabled} />
      ) : (
        <Button variant="default" size="xs" disabled={words.disabled} onClick={() => setIsReplacing(true)}>
          Replace
        </Button>
      )}
      {isReplacing && name !== undefined && (
        <Button variant="default" size="xs" onClick={stop}>
          Keep the old one
        </Button>
      )}
      {words.error !== null && <p className="field-error">{words.error}</p>}
    </fieldset>
  )
}

interface ValuesProps {
  readonly place: Place
  readonly sets: readonly (readonly string[])[]
  readonly isByKey: boolean
  readonly isDisabled: boolean
}

function Values({ place, sets, isByKey, isDisabled }: ValuesProps): ReactNode {
  const form = useSpecForm()
  const [which, setWhich] = useState(0)
  const pointer = specPointer(place)
  const values = form.secrets.find((each) => specPointer(each.place) === pointer)?.values ?? {}
  const type = (key: string, typed: string): void => {
    const { [key]: _, ...others } = values
    form.setSecret({ place, isByKey, values: typed === '' ? others : { ...others, [key]: typed } })
  }
  return (
    <>
      {sets.length > 1 && (
        <Select
          label="What you have"
          allowDeselect={false}
          disabled={isDisabled}
          data={sets.map((keys, index) => ({ value: String(index), label: keys.join(', ') }))}
          value={String(which)}
          onChange={(chosen) => {
            form.setSecret({ place, isByKey, values: {} })
            setWhich(Number(chosen))
          }}
        />
      )}
      {(sets[which] ?? []).map((key) => (
        <TextInput
          key={key}
          label={key}
          type="password"
          autoComplete="new-password"
          disabled={isDisabled}
          value={values[key] ?? ''}
          onChange={({ currentTarget }) => type(key, currentTarget.value)}
        />
      ))}
    </>
  )
}
