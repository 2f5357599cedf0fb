/** A form with the YAML beside it. It saves the whole spec, including fields that the form does not offer. */

import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent, type ReactNode } from 'react'

import { PROVIDER_DESCRIPTORS } from '../../domain/providers/index.ts'
import { RESOURCE_API_VERSION, SPEC_SCHEMAS, type ResourceKind } from '../../domain/resources/resources.ts'
import type { MemberRole } from '../../domain/model.ts'
import type { OwnedField } from '../../domain/resources/field-owners.ts'
import { ApiProblem } from '../data/ask.ts'
import type { StoredResource, ResourceSpec } from '../data/resources.ts'
import { Snippet } from '../parts/copy.tsx'
import { withoutField } from '../parts/problems.ts'
import { Unsaved } from '../parts/unsaved.tsx'
import { yamlOf } from './yaml.ts'
import { Field } from './fields.tsx'
import { SpecFormProvider, type NewSecret, type SpecForm } from './form-context.ts'
import { laidOver, fieldManager, specPointer, withValue } from './spec-edit.ts'
import { mayChange } from './rights.ts'
import { Trouble } from './trouble.tsx'
import { useSave } from './use-save.ts'

interface EditorProps {
  readonly organization: string
  readonly kind: ResourceKind
  /** Null for a new object. */
  readonly stored: StoredResource | null
  readonly role: MemberRole
  readonly onSaved: (resource: StoredResource) => void
}

export function Editor(props: EditorProps): ReactNode {
  const { organization, kind, stored, role } = props
  const { draft, change, saving, send, rebase } = useDraft(props)
  const [isProposing, setIsProposing] = useState(false)
  const { spec, secrets, base } = draft
  const { data: outcome, error } = saving
  const before = { kind, spec: stored?.spec ?? null }
  const managed = stored?.readOnly ?? []
  const isManaged = (field: string): boolean => fieldManager(managed, [field]) !== null
  const form: SpecForm = {
    organization,
    spec,
    secrets,
    set: (place, value) => change((was) => ({ ...was, spec: withValue(was.spec, place, value) })),
    setSecret: (secret) => change((was) => ({ ...was, secrets: withSecret(was.secrets, secret) })),
    problemOf: (place) => problemAt(error, specPointer(place)),
    lockOf(place) {
      if (!mayChange(role, before, String(place[0]))) return 'Your role does not change this.'
      const manager = isProposing ? null : fieldManager(managed, place)
      return manager === null ? null : `Managed by ${manager}.`
    },
  }
  const fields = offeredFields(kind, spec)
  const open = fields.filter((field) => mayChange(role, before, field))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    send(false)
  }
  return (
    <div className="editor">
      <form className="form" onSubmit={submit} noValidate>
        <Unsaved isChanged={isChanged(draft)} />
        {stored === null && (
          <NameField
            name={draft.name}
            problem={problemAt(error, '/name')}
            onChange={(name) => change((was) => ({ ...was, name }))}
          />
        )}
        <SpecFormProvider value={form}>
          <SpecFields kind={kind} fields={fields} />
        </SpecFormProvider>
        <Trouble error={error} outcome={outcome} base={base} mine={spec} onRebase={rebase} onSure={() => send(true)} />
        <EditorButtons
          isSaving={saving.isPending}
          verb={stored === null ? 'Create' : open.every(isManaged) ? 'Get the patch' : 'Save'}
          isOpen={open.some((field) => isProposing || !isManaged(field))}
          managers={isProposing ? [] : managersOf(managed, open)}
          onUnlock={() => setIsProposing(true)}
        />
      </form>
      <section className="beside" aria-label="The same as YAML">
        <h2>YAML</h2>
        <Snippet what="the YAML" text={yamlText(kind, stored, draft)} />
      </section>
    </div>
  )
}

/** Of these fields. */
function managersOf(managed: readonly OwnedField[], fields: readonly string[]): readonly string[] {
  const names = fields.map((field) => fieldManager(managed, [field]))
  return [...new Set(names.filter((name) => name !== null))]
}

interface ButtonsProps {
  readonly isSaving: boolean
  /** What the first button does. */
  readonly verb: string
  /** Whether a field can be changed. */
  readonly isOpen: boolean
  /** Of fields that this role could change; empty as soon as it does. */
  readonly managers: readonly string[]
  readonly onUnlock: () => void
}

/** A button to save only where something can be changed; for what others manage, the way to a patch. */
function EditorButtons({ isSaving, verb, isOpen, managers, onUnlock }: ButtonsProps): ReactNode {
  return (
    <>
      {managers.length > 0 && (
        <p className="hint">
          {managers.join(' and ')} {managers.length === 1 ? 'manages' : 'manage'} fields of this object. If you change
          them, you get a patch to apply there.
        </p>
      )}
      <div className="buttons">
        {isOpen && (
          <Button type="submit" loading={isSaving}>
            {verb}
          </Button>
        )}
        {managers.length > 0 && (
          <Button variant="default" onClick={onUnlock}>
            Change managed fields
          </Button>
        )}
      </div>
    </>
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

/** Whether it is other than it was loaded. */
function isChanged({ name, spec, base, secrets }: Draft): boolean {
  return name !== '' || secrets.length > 0 || JSON.stringify(spec) !== JSON.stringify(base)
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
const NOT_OFFERED = new Set(['organizationRef', 'installation', 'tenant', 'allowedNamespaces', 'id', 'plan', 'billing'])
/** A webhook's secret is changed on its own page, where the new one is shown once. */
const SECRETS_OF_WEBHOOKS = new Set(['format', 'secretRef', 'previousSecretRef', 'previousSecretUntil'])
const BLOCKS: ReadonlyMap<string, string> = new Map(
  Object.values(PROVIDER_DESCRIPTORS).map(({ id, block }) => [block.field, id]),
)

/** The address of a channel of Slack is a secret, that of others a text. */
function addressNotOf({ format }: ResourceSpec): string {
  return format === 'Slack' ? 'url' : 'urlSecretRef'
}

/** For a destination, only the block of its provider. */
function offeredFields(kind: ResourceKind, spec: ResourceSpec): readonly string[] {
  return Object.keys(SPEC_SCHEMAS[kind].properties ?? {}).filter((field) => {
    if (NOT_OFFERED.has(field)) return false
    if (kind === 'Webhook') return !SECRETS_OF_WEBHOOKS.has(field) && field !== addressNotOf(spec)
    const block = BLOCKS.get(field)
    return kind !== 'Destination' || block === undefined || block === spec['provider']
  })
}

function SpecFields({ kind, fields }: { readonly kind: ResourceKind; readonly fields: readonly string[] }): ReactNode {
  const { properties = {}, required = [] } = SPEC_SCHEMAS[kind]
  return fields.flatMap((field) => {
    const schema = properties[field]
    const isRequired = required.includes(field) || (kind === 'Destination' && BLOCKS.has(field))
    return schema === undefined ? [] : [<Field key={field} place={[field]} schema={schema} isRequired={isRequired} />]
  })
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
