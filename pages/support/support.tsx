/** Support: a message to those who run the service; the diagnostics are shown before they are sent. */

import { Button, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'

import { LIMITS } from '../../domain/limits.ts'
import { sendSupportRequest, newRequestId, supportQuery } from '../data/support.ts'
import { Empty, Loading, Page, Problem } from '../parts/states.tsx'
import { Unsaved } from '../parts/unsaved.tsx'
import { useOrganization } from '../shell/organization.tsx'

export function SupportPage(): ReactNode {
  const organization = useOrganization()
  if (organization === null) return null
  return (
    <Page title="Support" question="Who helps, and what do they get to know?">
      <Support organization={organization.id} />
    </Page>
  )
}

function Support({ organization }: { readonly organization: string }): ReactNode {
  const { data, error } = useQuery(supportQuery(organization))
  const [sent, setSent] = useState<string | null>(null)
  if (data === undefined) return error === null ? <Loading what="what would be sent" /> : <Problem error={error} />
  if (!data.isMailed) {
    return (
      <Empty title="Nobody gets requests here">
        Whoever runs this service has set no address for them. Ask the person who gave you access.
      </Empty>
    )
  }
  if (sent !== null) {
    return (
      <div className="empty" role="status">
        <h2>Your request is on its way</h2>
        <p>
          Answers come to your e-mail address. The request is <code translate="no">{sent}</code>.
        </p>
        <Button variant="default" onClick={() => setSent(null)}>
          Write another one
        </Button>
      </div>
    )
  }
  return <SupportForm organization={organization} diagnostics={data.diagnostics} onSent={setSent} />
}

interface SupportFormProps {
  readonly organization: string
  readonly diagnostics: object
  readonly onSent: (request: string) => void
}

function SupportForm({ organization, diagnostics, onSent }: SupportFormProps): ReactNode {
  // The same for each attempt, so that a repeat is not a second request.
  const [id] = useState(newRequestId)
  const [message, setMessage] = useState('')
  const [isTelling, setIsTelling] = useState(true)
  const send = useMutation({
    mutationFn: () => sendSupportRequest(organization, { id, message, ...(isTelling ? { diagnostics } : {}) }),
    onSuccess: ({ request }) => onSent(request),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    send.mutate()
  }
  return (
    <form onSubmit={submit} className="form support">
      <Unsaved isChanged={message !== ''} />
      <Textarea
        label="What is wrong, and what did you expect?"
        required
        rows={6}
        maxLength={LIMITS.supportMessageChars}
        value={message}
        onChange={({ currentTarget }) => setMessage(currentTarget.value)}
      />
      <label className="check">
        <input type="checkbox" checked={isTelling} onChange={() => setIsTelling(!isTelling)} /> Send this along
      </label>
      <details open>
        <summary>Exactly this, and nothing else</summary>
        <pre translate="no" tabIndex={0}>
          {JSON.stringify(diagnostics, null, 2)}
        </pre>
      </details>
      <Problem error={send.error} />
      <div>
        <Button type="submit" loading={send.isPending}>
          Send the request
        </Button>
      </div>
    </form>
  )
}
