/** One form that makes an organisation and its first website. */

import { Button, Select, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { LIMITS } from '../../domain/limits.ts'
import { typedOrigin } from '../../domain/onboarding/typed-origin.ts'
import { ApiProblem } from '../data/ask.ts'
import { makeFirstWebsite, makeOrganization, type WantedOrganization } from '../data/new-organization.ts'
import { Problem } from '../parts/states.tsx'

/** By their own names; some browsers leave out the one that most organisations have until they choose. */
const ZONES: readonly string[] = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]

/** That of the reader's own machine. */
function ownZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return ZONES.includes(timeZone) ? timeZone : 'UTC'
}

interface WelcomeDraft extends WantedOrganization {
  /** As it is typed. */
  readonly website: string
}

export function NewOrganization(): ReactNode {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [draft, setDraft] = useState<WelcomeDraft>({ displayName: '', timeZone: ownZone(), website: '' })
  const [isRefused, setIsRefused] = useState(false)
  // If the website is refused, the organisation is there already: the form then goes on with the website alone.
  const [made, setMade] = useState<string | null>(null)
  const create = useMutation({
    mutationFn: async (origin: string) => {
      const { displayName, timeZone } = draft
      const id = made ?? (await makeOrganization({ displayName: displayName.trim(), timeZone })).id
      setMade(id)
      await makeFirstWebsite(id, origin)
      return id
    },
    async onSuccess(organization) {
      await queries.invalidateQueries()
      await navigate({ to: '/app/$organization/checklist', params: { organization } })
    },
  })
  const change = (part: Partial<WelcomeDraft>): void => setDraft({ ...draft, ...part })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    const origin = typedOrigin(draft.website)
    setIsRefused(origin === null)
    if (origin !== null) create.mutate(origin)
  }
  return (
    <form className="card new-organization" onSubmit={submit} aria-labelledby="new-organization">
      <h2 id="new-organization">{made === null ? 'Make an organisation' : 'Its website is still missing'}</h2>
      {made === null ? (
        <OwnWords draft={draft} onChange={change} />
      ) : (
        <p>
          <bdi>{draft.displayName}</bdi> is made, and you are its owner.
        </p>
      )}
      <TextInput
        label="Website"
        description="The one that shows your install command; more can follow"
        placeholder="acme.dev"
        required
        withAsterisk={false}
        inputMode="url"
        value={draft.website}
        error={isRefused ? 'Give an https address, such as acme.dev' : problemOfOrigin(create.error)}
        onChange={({ currentTarget }) => change({ website: currentTarget.value })}
      />
      <Problem error={problemOfOrigin(create.error) === null ? create.error : null} />
      <Button type="submit" loading={create.isPending}>
        {made === null ? 'Make it' : 'Add the website'}
      </Button>
    </form>
  )
}

/** What the API says of the address, in words for whoever has typed it; null if it is about something else. */
function problemOfOrigin(error: unknown): string | null {
  const isOfOrigin = error instanceof ApiProblem && error.detail['field'] === '/spec/primaryOrigin'
  return isOfOrigin ? 'A website of somebody else has this address, or none may have it. Give another one.' : null
}

interface OwnWordsProps {
  readonly draft: WelcomeDraft
  readonly onChange: (part: Partial<WelcomeDraft>) => void
}

function OwnWords({ draft, onChange }: OwnWordsProps): ReactNode {
  return (
    <>
      <p>You become its owner, and can invite others later.</p>
      <TextInput
        label="Name"
        description="As your colleagues know it"
        required
        withAsterisk={false}
        maxLength={LIMITS.nameChars}
        value={draft.displayName}
        onChange={({ currentTarget }) => onChange({ displayName: currentTarget.value })}
      />
      <Select
        label="Time zone"
        description="In which your days begin, in figures and mails"
        searchable
        allowDeselect={false}
        data={ZONES}
        limit={50}
        value={draft.timeZone}
        onChange={(timeZone) => {
          if (timeZone !== null) onChange({ timeZone })
        }}
      />
    </>
  )
}
