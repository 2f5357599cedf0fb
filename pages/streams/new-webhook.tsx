/** A new webhook: its address, its events, and then its secret, once. */

import { Button, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type FormEvent, type ReactNode } from 'react'

import { WEBHOOK_EVENT_TYPES, type WebhookFormat } from '../../domain/model.ts'
import { eventWords } from '../resources/event-words.ts'
import { Page, Problem } from '../parts/states.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { useOrganization } from '../shell/organization.tsx'
import { makeSlackWebhook, makeWebhook, STREAMS_KEY } from './streams-data.ts'
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

const FORMATS: readonly { readonly name: WebhookFormat; readonly words: string }[] = [
  { name: 'Standard', words: 'Signed events, for a program of yours' },
  { name: 'Slack', words: 'Messages in a Slack channel; installs once an hour' },
]

function NewWebhook({ organization }: { readonly organization: string }): ReactNode {
  const queries = useQueryClient()
  const [format, setFormat] = useState<WebhookFormat>('Standard')
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<readonly string[]>([])
  const create = useMutation({
    mutationFn: () =>
      format === 'Slack' ? makeSlackWebhook(organization, { url, events }) : makeWebhook(organization, { url, events }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [STREAMS_KEY, organization] }),
  })
  if (create.data !== undefined) {
    const { namespace, name, secret } = create.data
    return (
      <>
        {secret !== null && <ShownSecret secret={secret} />}
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
      <Unsaved isChanged={url !== '' || events.length > 0} />
      <fieldset className="group">
        <legend>Sent as</legend>
        {FORMATS.map(({ name, words }) => (
          <label key={name} className="check">
            <input type="radio" name="format" checked={format === name} onChange={() => setFormat(name)} /> {words}
          </label>
        ))}
      </fieldset>
      <TextInput
        label="Address"
        description={
          format === 'Slack'
            ? 'Of an incoming webhook of Slack: https://hooks.slack.com/services/… It is kept as a secret and not shown again.'
            : 'It begins with https:// and answers with 2xx within ten seconds.'
        }
        {...(format === 'Slack' ? { type: 'password', autoComplete: 'off' } : {})}
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
