/** A new webhook: its address, its events, and then its secret, once. */

import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { WEBHOOK_EVENT_TYPES } from '../../domain/model.ts'
import { eventWords } from '../resources/event-words.ts'
import { Page, Problem } from '../parts/states.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { makeWebhook, STREAMS_KEY } from './streams-data.ts'
import { ShownSecret } from './new-secret.tsx'

export function NewWebhookPage(): ReactNode {
  const organization = useOrganization()
  if (organization === null) return null
  return (
    <Page title="New webhook" question="Where are events posted to, and which?">
      <NewWebhook organization={organization.id} />
    </Page>
  )
}

function NewWebhook({ organization }: { readonly organization: string }): ReactNode {
  const queries = useQueryClient()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly string[]>([])
  const create = useMutation({
    mutationFn: () => makeWebhook(organization, { url, events }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [STREAMS_KEY, organization] }),
  })
  if (create.data !== undefined) {
    const { namespace, name, secret } = create.data
    return (
      <>
        <ShownSecret secret={secret} />
        <p>
          <Link to="/app/$organization/webhooks/$namespace/$name" params={{ organization, namespace, name }}>
            Open the webhook, to send a test
          </Link>
        </p>
      </>
    )
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    create.mutate()
  }
  const toggle = (type: string): void =>
    setEvents((before) => (before.includes(type) ? before.filter((each) => each !== type) : [...before, type]))
  return (
    <form className="form" onSubmit={submit} noValidate>
      <TextInput
        label="Address"
        description="It begins with https:// and answers with 2xx within ten seconds."
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <fieldset className="group">
        <legend>Events</legend>
        {WEBHOOK_EVENT_TYPES.map((type) => (
          <label key={type} className="check">
            <input type="checkbox" checked={events.includes(type)} onChange={() => toggle(type)} /> {eventWords(type)}{' '}
            <code translate="no">{type}</code>
          </label>
        ))}
      </fieldset>
      <Problem error={create.error} />
      <Button type="submit" loading={create.isPending}>
        Create
      </Button>
    </form>
  )
}
