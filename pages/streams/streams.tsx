/** Streams and webhooks: where Logs and events are sent, and whether they arrive. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { isAtLeast } from '../../domain/people/roles.ts'
import { Empty, Loading, Page, Problem } from '../parts/states.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { streamsQuery, webhooksQuery, type ListedStream, type ListedWebhook } from './streams-data.ts'
import { streamWords, webhookWords } from './words.ts'

export function StreamsPage(): ReactNode {
  const organization = useOrganization()
  if (organization === null) return null
  return (
    <Page title="Streams and webhooks" question="Do our Logs and events arrive?">
      <Streams organization={organization} />
      <Webhooks organization={organization} />
    </Page>
  )
}

interface SectionProps {
  readonly organization: OwnOrganization
}

function Streams({ organization: { id, role } }: SectionProps): ReactNode {
  const { data, error } = useQuery(streamsQuery(id))
  return (
    <section className="kind" aria-labelledby="log-streams">
      <header>
        <h2 id="log-streams">Log streams</h2>
        {isAtLeast(role, 'Admin') && (
          <Link to="/app/$organization/new/$kind" params={{ organization: id, kind: 'LogStream' }}>
            New log stream
          </Link>
        )}
      </header>
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="log streams" />
      ) : data.length === 0 ? (
        <Empty title="No log streams yet">
          A log stream sends every line of Logs to a bucket or an address of yours, at least once and in order.
        </Empty>
      ) : (
        <ul className="cards">
          {data.map((stream) => (
            <StreamCard key={stream.name} organization={id} stream={stream} />
          ))}
        </ul>
      )}
    </section>
  )
}

function StreamCard({
  organization,
  stream,
}: {
  readonly organization: string
  readonly stream: ListedStream
}): ReactNode {
  const { tone, words } = streamWords(stream)
  return (
    <li className="card">
      <h3>
        <Link to="/app/$organization/streams/$stream" params={{ organization, stream: stream.name }}>
          {stream.displayName ?? stream.name}
        </Link>
      </h3>
      <p className={`status ${tone}`}>{words}</p>
      <p className="question">To {targetText(stream)}</p>
    </li>
  )
}

export function targetText({ to, url = '', bucket = '', prefix = '', endpoint = '' }: ListedStream): string {
  return to === 'webhook' ? url : `${endpoint} bucket ${bucket}${prefix === '' ? '' : `, ${prefix}`}`
}

function Webhooks({ organization: { id, role } }: SectionProps): ReactNode {
  const { data, error } = useQuery(webhooksQuery(id))
  return (
    <section className="kind" aria-labelledby="webhooks">
      <header>
        <h2 id="webhooks">Webhooks</h2>
        {isAtLeast(role, 'Admin') && (
          <Link to="/app/$organization/webhooks/new" params={{ organization: id }}>
            New webhook
          </Link>
        )}
      </header>
      <Problem error={error} />
      {/* The list above says that it is loading. */}
      {data === undefined ? null : data.length === 0 ? (
        <Empty title="No webhooks yet">
          A webhook posts to an address of yours when an install is matched, a delivery fails or a quota is used up.
        </Empty>
      ) : (
        <ul className="cards">
          {data.map((webhook) => (
            <WebhookCard key={`${webhook.namespace}/${webhook.name}`} organization={id} webhook={webhook} />
          ))}
        </ul>
      )}
    </section>
  )
}

function WebhookCard({
  organization,
  webhook,
}: {
  readonly organization: string
  readonly webhook: ListedWebhook
}): ReactNode {
  const { namespace, name, displayName, url, events } = webhook
  const { tone, words } = webhookWords(webhook)
  return (
    <li className="card">
      <h3>
        <Link to="/app/$organization/webhooks/$namespace/$name" params={{ organization, namespace, name }}>
          {displayName}
        </Link>
      </h3>
      <p className={`status ${tone}`}>{words}</p>
      <p className="question">
        {events.length} {events.length === 1 ? 'type of event' : 'types of events'} to {url}
      </p>
    </li>
  )
}
