/** A form with the YAML beside it. It saves the whole spec, including fields that the form does not offer. */

import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent, type ReactNode } from 'react'

import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { RESOURCE_API_VERSION, SPEC_SCHEMAS, type ResourceKind } from '../../domain/resources/resources.ts'
import type { OwnedField } from '../../domain/resources/field-owners.ts'
import { ApiProblem } from '../data/ask.ts'
import type { StoredResource, ResourceSpec } from '../data/resources.ts'
import { Snippet } from '../parts/copy.tsx'
import { withoutField } from '../parts/problems.ts'
import { yamlOf } from './yaml.ts'
import { Field } from './fields.tsx'
import { SpecFormProvider, type NewSecret, type SpecForm } from './form-context.ts'
import { laidOver, fieldManager, specPointer, withValue } from './spec-edit.ts'
import { Trouble } from './trouble.tsx'
import { useSave } from './use-save.ts'

interface EditorProps {
  readonly organization: string
  readonly kind: ResourceKind
  /** Null for a new object. */
  readonly stored: StoredResource | null
  readonly mayWrite: boolean
  readonly onSaved: (resource: StoredResource) => void
}

export function Editor(props: EditorProps): ReactNode {
  const { organization, kind, stored, mayWrite } = props
  const { draft, change, saving, send, rebase } = useDraft(props)
  const [isProposing, setIsProposing] = useState(false)
  const { spec, secrets, base } = draft
  const { data: outcome, error } = saving
  const readOnly = stored?.readOnly ?? []
  const form: SpecForm = {
    ...{ organization, spec, secrets },
    set: (place, value) => change((before) => ({ ...before, spec: withValue(before.spec, place, value) })),
    setSecret: (secret) => change((before) => ({ ...before, secrets: withSecret(before.secrets, secret) })),
    problemOf: (place) => problemAt(error, specPointer(place)),
    managerOf: (place) => (!mayWrite ? 'those who may write' : isProposing ? null : fieldManager(readOnly, place)),
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    send(false)
  }
  return (
    <div className="editor">
      <form className="form" onSubmit={submit} noValidate>
        {stored === null && (
          <NameField
            name={draft.name}
            problem={problemAt(error, '/name')}
            onChange={(name) => change((before) => ({ ...before, name }))}
          />
        )}
        <SpecFormProvider value={form}>
          <SpecFields kind={kind} spec={spec} />
        </SpecFormProvider>
        <Trouble {...{ error, outcome, base, mine: spec }} onRebase={rebase} onSure={() => send(true)} />
        {mayWrite && (
          <div className="buttons">
            <Button type="submit" loading={saving.isPending}>
              {stored === null ? 'Create' : 'Save'}
            </Button>
            {readOnly.length > 0 && !isProposing && (
              <Unlock readOnly={readOnly} onUnlock={() => setIsProposing(true)} />
            )}
          </div>
        )}
      </form>
      <section className="beside" aria-label="The same as YAML">
        <h2>YAML</h2>
        <Snippet what="the YAML" text={yamlText(kind, stored, draft)} />
      </section>
    </div>
  )
}

/** The object being changed, and how it is saved. */
function useDraft({ organization, kind, stored, onSaved }: EditorProps) {
  const [draft, change] = useState<Draft>(() => draftOf(stored))
  const saving = useSave({
    onSecretsKept: (spec) => change((before) => ({ ...before, spec, secrets: [] })),
    onSaved(resource) {
      change(draftOf(resource))
      onSaved(resource)
    },
  })
  const send = (isSure: boolean): void => {
    const { spec, secrets, name, version } = draft
    const target = stored === null ? null : { ...stored, version }
    saving.mutate({ wanted: { organization, kind, spec, name, stored: target }, secrets, isSure })
  }
  const rebase = (theirs: ResourceSpec, version: string): void => {
    change((before) => ({ ...before, spec: laidOver({ ...before, mine: before.spec, theirs }), version, base: theirs }))
    saving.reset()
  }
  return { draft, change, saving, send, rebase }
}

interface Draft {
  readonly name: string
  readonly spec: ResourceSpec
  /** As it was loaded. */
  readonly base: ResourceSpec
  readonly version: string
  readonly secrets: readonly NewSecret[]
}

function draftOf(stored: StoredResource | null): Draft {
  const { spec = {}, version = '' } = stored ?? {}
  return { name: '', spec, base: spec, version, secrets: [] }
}

function withSecret(secrets: readonly NewSecret[], secret: NewSecret): readonly NewSecret[] {
  const others = secrets.filter(({ place }) => specPointer(place) !== specPointer(secret.place))
  return Object.keys(secret.values).length === 0 ? others : [...others, secret]
}

/** Set by the service, by billing, or for installations of the operator; visible in the YAML. */
const NOT_OFFERED = new Set(['organizationRef', 'installation', 'tenant', 'allowedNamespaces', 'id', 'plan'])
const BLOCKS: ReadonlyMap<string, string> = new Map(
  Object.values(PROVIDER_DESCRIPTORS).map(({ id, block }) => [block.field, id]),
)

/** For a destination, only the block of its provider. */
function SpecFields({ kind, spec }: { readonly kind: ResourceKind; readonly spec: ResourceSpec }): ReactNode {
  const { properties = {}, required = [] } = SPEC_SCHEMAS[kind]
  const isShown = (field: string): boolean => {
    const block = BLOCKS.get(field)
    return !NOT_OFFERED.has(field) && (kind !== 'Destination' || block === undefined || block === spec['provider'])
  }
  return Object.entries(properties)
    .filter(([field]) => isShown(field))
    .map(([field, schema]) => (
      <Field
        key={field}
        place={[field]}
        schema={schema}
        isRequired={required.includes(field) || (kind === 'Destination' && BLOCKS.has(field))}
      />
    ))
}

function problemAt(error: unknown, pointer: string): string | null {
  if (!(error instanceof ApiProblem)) return null
  const { field, message } = error.detail
  if (typeof field !== 'string' || typeof message !== 'string') return null
  const isHere = field === pointer || (field.startsWith(`${pointer}/`) && /^\/\d+$/.test(field.slice(pointer.length)))
  return isHere ? withoutField(message) : null
}

function yamlText(kind: ResourceKind, stored: StoredResource | null, { name, spec }: Draft): string {
  const metadata = stored === null ? (name === '' ? {} : { name }) : { name: stored.name, namespace: stored.namespace }
  return yamlOf({ apiVersion: RESOURCE_API_VERSION, kind, metadata, spec })
}

interface NameProps {
  readonly name: string
  readonly problem: string | null
  readonly onChange: (name: string) => void
}

function NameField({ name, problem, onChange }: NameProps): ReactNode {
  return (
    <TextInput
      label="Name"
      description="Of the object, for good: lower-case letters, digits and hyphens. Empty: one is made up."
      error={problem}
      value={name}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

interface UnlockProps {
  readonly readOnly: readonly OwnedField[]
  readonly onUnlock: () => void
}

function Unlock({ readOnly, onUnlock }: UnlockProps): ReactNode {
  const managers = [...new Set(readOnly.map(({ manager }) => manager))].join(', ')
  return (
    <Button variant="default" onClick={onUnlock}>
      Change fields of {managers}, to get a patch
    </Button>
  )
}
