/** The fields of a guide, each with where its value stands in the provider's own words. */

import { Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'

import type { GuideField, GuideWay, ProviderGuide } from '../../domain/providers/guide.ts'
import type { Typed } from './connect-data.ts'

interface GuideFieldsProps {
  readonly guide: ProviderGuide
  readonly way: GuideWay
  readonly onWay: (way: GuideWay) => void
  readonly fields: FieldHandling
}

/** What is typed, and what is said to it. */
interface FieldHandling {
  readonly typed: Typed
  readonly faultOf: (name: string) => string | null
  readonly onType: (name: string, value: string) => void
  readonly onLeave: (name: string) => void
}

export function GuideFields({ guide, way, onWay, fields }: GuideFieldsProps): ReactNode {
  const { settings, ways } = guide
  return (
    <>
      {settings.map((field) => (
        <GuideInput key={field.name} field={field} fields={fields} />
      ))}
      {ways.length > 1 && (
        <fieldset className="group">
          <legend>Credentials</legend>
          {ways.map((each) => (
            <label key={each.title} className="check">
              <input type="radio" name="way" checked={each === way} onChange={() => onWay(each)} /> {each.title}
            </label>
          ))}
        </fieldset>
      )}
      {way.fields.map((field) => (
        <GuideInput key={field.name} field={field} fields={fields} />
      ))}
    </>
  )
}

function GuideInput({ field, fields }: { readonly field: GuideField; readonly fields: FieldHandling }): ReactNode {
  const { name, label, where, example, isSecret, isOptional, isLong } = field
  const { typed, faultOf, onType, onLeave } = fields
  const fault = faultOf(name)
  const shared = {
    label,
    description: where,
    placeholder: example,
    withAsterisk: isOptional !== true,
    error: fault === null ? null : `It ${fault}.`,
    value: typed[name] ?? '',
    spellCheck: false,
    autoComplete: 'off',
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onType(name, currentTarget.value),
    onBlur: () => (typed[name] ?? '') !== '' && onLeave(name),
  }
  if (isLong === true) return <Textarea {...shared} rows={4} />
  return <TextInput {...shared} type={isSecret ? 'password' : 'text'} />
}
