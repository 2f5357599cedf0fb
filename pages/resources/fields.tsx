/** Fields of a form, generated from the schema that the API checks with. Their descriptions are those of the docs. */

import { Button, Select, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'

import { RECONSTRUCTION_CHOICES_HOURS } from '../../domain/limits.ts'
import type { JsonSchema } from '../../domain/schema/json-schema.ts'
import { SecretField, WebsiteField } from './reference-fields.tsx'
import { useField, type FieldProps } from './use-field.ts'
import { valueLabel } from './words.ts'

/** One field, or a group of them. */
export function Field(props: FieldProps): ReactNode {
  const { place, schema } = props
  const name = String(place.at(-1))
  if (name === 'websiteRef') return <WebsiteField {...props} />
  if (name.endsWith('Ref')) return <SecretField {...props} />
  if (name === 'reconstructionWindowHours') return <WindowField {...props} />
  if (schema.type === 'object') return <FieldGroup {...props} />
  if (schema.type === 'boolean') return <TruthField {...props} />
  if (schema.type === 'array') return <ListField {...props} />
  return schema.enum === undefined ? <TextField {...props} /> : <ChoiceField {...props} />
}

function fallbackText({ default: fallback }: JsonSchema): string {
  return typeof fallback === 'string' || typeof fallback === 'number' ? String(fallback) : ''
}

function TextField(props: FieldProps): ReactNode {
  const { value, set, words } = useField(props)
  const isNumber = props.schema.type === 'integer'
  return (
    <TextInput
      {...words}
      {...(isNumber ? { type: 'number', inputMode: 'numeric' as const } : {})}
      placeholder={fallbackText(props.schema)}
      value={typeof value === 'string' || typeof value === 'number' ? String(value) : ''}
      onChange={({ currentTarget: { value: typed } }) =>
        set(typed === '' ? undefined : isNumber ? Number(typed) : typed)
      }
    />
  )
}

function ChoiceField(props: FieldProps): ReactNode {
  const { value, set, words } = useField(props)
  const name = String(props.place.at(-1))
  const fallback = fallbackText(props.schema)
  return (
    <Select
      {...words}
      data={props.schema.enum?.map((each) => ({ value: each, label: valueLabel(name, each) })) ?? []}
      placeholder={valueLabel(name, fallback)}
      clearable={!props.isRequired}
      allowDeselect={!props.isRequired}
      value={typeof value === 'string' ? value : null}
      onChange={(chosen) => set(chosen ?? undefined)}
    />
  )
}

/** The dashboard offers three; a value that was set with kubectl stays selectable. */
function WindowField(props: FieldProps): ReactNode {
  const { value, set, words } = useField(props)
  const hours = typeof value === 'number' ? [value] : []
  const choices = [...new Set([...RECONSTRUCTION_CHOICES_HOURS, ...hours])]
  return (
    <Select
      {...words}
      label="Window for the original session"
      data={choices.map((each) => ({ value: String(each), label: `${each} hours` }))}
      placeholder={`${fallbackText(props.schema)} hours`}
      clearable
      value={typeof value === 'number' ? String(value) : null}
      onChange={(chosen) => set(chosen === null ? undefined : Number(chosen))}
    />
  )
}

function TruthField(props: FieldProps): ReactNode {
  const { value, set, words } = useField(props)
  return (
    <div className="truth">
      <label>
        <input
          type="checkbox"
          id={words.id}
          checked={(value ?? props.schema.default) === true}
          disabled={words.disabled}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />{' '}
        {words.label}
      </label>
      <p className="hint">{words.description}</p>
    </div>
  )
}

function ListField(props: FieldProps): ReactNode {
  const { items } = props.schema
  if (items?.enum !== undefined) return <Checks {...props} names={items.enum} />
  return items?.type === 'object' ? <ListRows {...props} row={items} /> : <Lines {...props} />
}

function listedTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function Lines(props: FieldProps): ReactNode {
  const { value, set, words } = useField(props)
  return (
    <Textarea
      {...words}
      description={`${words.description} One a line.`}
      rows={3}
      value={listedTexts(value).join('\n')}
      onChange={({ currentTarget }) => {
        const lines = currentTarget.value === '' ? undefined : currentTarget.value.split('\n')
        set(lines)
      }}
      onBlur={() => {
        const kept = listedTexts(value).map((line) => line.trim())
        set(kept.some((line) => line !== '') ? kept.filter((line) => line !== '') : undefined)
      }}
    />
  )
}

function Checks({ names, ...props }: FieldProps & { readonly names: readonly string[] }): ReactNode {
  const { value, set, words } = useField(props)
  const field = String(props.place.at(-1))
  const chosen = listedTexts(value ?? props.schema.default)
  const toggle = (name: string): void => {
    const next = names.filter((each) => (each === name ? !chosen.includes(each) : chosen.includes(each)))
    set(next.length === 0 ? undefined : next)
  }
  return (
    <fieldset className="group" id={words.id}>
      <legend>{words.label}</legend>
      <p className="hint">{words.description}</p>
      <div className="checks">
        {names.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              disabled={words.disabled}
              onChange={() => toggle(name)}
            />{' '}
            {valueLabel(field, name)}
          </label>
        ))}
      </div>
      {words.error !== null && <p className="field-error">{words.error}</p>}
    </fieldset>
  )
}

function ListRows({ row, ...props }: FieldProps & { readonly row: JsonSchema }): ReactNode {
  const { place } = props
  const { value, set, words } = useField(props)
  const rows: readonly unknown[] = Array.isArray(value) ? value : []
  return (
    <fieldset className="group" id={words.id}>
      <legend>{words.label}</legend>
      <p className="hint">{words.description}</p>
      {rows.map((_, index) => (
        // Rows have no ID; their fields are controlled, so the index is enough as a key.
        <div className="row-fields" key={index}>
          <GroupFields place={[...place, index]} schema={row} />
          <Button
            variant="default"
            size="xs"
            disabled={words.disabled}
            aria-label={`Remove ${words.label.toLowerCase()} ${index + 1}`}
            onClick={() => set(rows.length === 1 ? undefined : rows.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button variant="default" size="xs" disabled={words.disabled} onClick={() => set([...rows, {}])}>
        Add to {words.label.toLowerCase()}
      </Button>
    </fieldset>
  )
}

/** A button adds an optional group. */
function FieldGroup(props: FieldProps): ReactNode {
  const { place, schema, isRequired } = props
  const { value, set, words } = useField(props)
  const isThere = isRequired || value !== undefined || schema.default !== undefined
  return (
    <fieldset className="group" id={words.id}>
      <legend>{words.label}</legend>
      <p className="hint">{schema.description}</p>
      {isThere ? (
        <GroupFields place={place} schema={schema} />
      ) : (
        <Button variant="default" size="xs" disabled={words.disabled} onClick={() => set({})}>
          Use {words.label}
        </Button>
      )}
      {words.error !== null && <p className="field-error">{words.error}</p>}
    </fieldset>
  )
}

function GroupFields({ place, schema }: Pick<FieldProps, 'place' | 'schema'>): ReactNode {
  return Object.entries(schema.properties ?? {}).map(([name, member]) => (
    <Field key={name} place={[...place, name]} schema={member} isRequired={schema.required?.includes(name) === true} />
  ))
}
