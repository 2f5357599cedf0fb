/** One webhook: its state, its events, the attempts, what was given up, and its secret. */

import { Button } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { isAtLeast } from '../../domain/people/roles.ts'
import { readStored, save } from '../data/resources.ts'
import { eventWords } from '../resources/event-words.ts'
import { Status } from '../parts/lines/line-table.tsx'
import { Failed, Loading, NotFound, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Clock, Moment } from '../parts/time.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Action } from './action.tsx'
import { NewSecret } from './new-secret.tsx'
import {
  changeWebhookSecret,
  lostEventsQuery,
  sendLostAgain,
  askWebhookTest,
  webhookAttemptsQuery,
  webhooksQuery,
  type ListedWebhook,
  type WebhookAttempt,
  type WebhookRef,
} from './streams-data.ts'
import { ATTEMPT_WORDS, webhookWords } from './words.ts'

export function WebhookPage(): ReactNode {
  const organization = useOrganization()
  const { namespace = '', name = '' } = useParams({ strict: false })
  return organization === null ? null : <OneWebhook organization={organization} namespace={namespace} name={name} />
}

interface OneWebhookProps {
  readonly organization: OwnOrganization
  readonly namespace: string
  readonly name: string
}

function OneWebhook({ organization, namespace, name }: OneWebhookProps): ReactNode {
  const { data, error } = useQuery(webhooksQuery(organization.id))
  if (data === undefined) return error === null ? <Loading what="the webhook" /> : <Failed error={error} />
  const webhook = data.find((each) => each.namespace === namespace && each.name === name)
  if (webhook === undefined) return <NotFound />
  const ref = { organization: organization.id, namespace, name }
  const { tone, words } = webhookWords(webhook)
  return (
    <Page title={webhook.displayName} question="Does this webhook arrive?">
      <p className={`status ${tone}`}>{words}</p>
      <dl className="facts">
        <dt>To</dt>
        <dd translate="no">{webhook.url}</dd>
        <dt>Events</dt>
        <dd>{webhook.events.map(eventWords).join(', ')}</dd>
        {webhook.lastDeliveredAt !== null && (
          <>
            <dt>Last delivered</dt>
            <dd>
              <Moment ms={webhook.lastDeliveredAt} />
            </dd>
          </>
        )}
        <dt>Object</dt>
        <dd>
          <Link
            to="/app/$organization/resources/$kind/$namespace/$name"
            params={{ organization: organization.id, kind: 'Webhook', namespace, name }}
          >
            {name}
          </Link>
        </dd>
      </dl>
      <WebhookActions webhookRef={ref} webhook={webhook} role={organization.role} />
      <Lost webhookRef={ref} mayReplay={isAtLeast(organization.role, 'Member')} />
      <WebhookAttempts {...ref} />
    </Page>
  )
}

interface WebhookActionsProps {
  readonly webhookRef: WebhookRef
  readonly webhook: ListedWebhook
  readonly role: OwnOrganization['role']
}

function WebhookActions({ webhookRef, webhook, role }: WebhookActionsProps): ReactNode {
  const { organization } = webhookRef
  const isManagedElsewhere = webhook.origin?.by !== 'dashboard'
  return (
    <div className="buttons stream-actions">
      {isAtLeast(role, 'Member') && (
        <Action
          organization={organization}
          title="Send a test"
          done="A test is on its way: it appears below within seconds."
          act={() => askWebhookTest(webhookRef)}
        />
      )}
      {isAtLeast(role, 'Admin') && !isManagedElsewhere && (
        <>
          <Action
            organization={organization}
            title={webhook.paused ? 'Resume' : 'Pause'}
            {...(webhook.paused ? {} : { question: 'Events that happen while it is paused are not sent later.' })}
            done={webhook.paused ? 'It is resumed.' : 'It is paused.'}
            act={() => savePaused(webhookRef, !webhook.paused)}
          />
          <NewSecret organization={webhookRef.organization} make={() => changeWebhookSecret(webhookRef)} />
        </>
      )}
    </div>
  )
}

/** One field of its object, as it is stored now. */
async function savePaused(ref: WebhookRef, paused: boolean): Promise<unknown> {
  const stored = await readStored({ ...ref, kind: 'Webhook' })
  return save({ organization: ref.organization, kind: 'Webhook', spec: { ...stored.spec, paused }, stored, name: '' })
}

function Lost({ webhookRef, mayReplay }: { readonly webhookRef: WebhookRef; readonly mayReplay: boolean }): ReactNode {
  const { data, error } = useQuery(lostEventsQuery(webhookRef))
  const { organization } = webhookRef
  if (data === undefined || data.lost.length === 0) return <Problem error={error} />
  return (
    <section aria-labelledby="lost">
      <h2 id="lost">Given up in seven days</h2>
      {mayReplay && (
        <p>
          <Action
            organization={organization}
            title={data.mayHaveMore ? 'Send the newest 50 again' : 'Send all of them again'}
            question="They keep their IDs, so that the receiver can recognise repeats."
            done="They are sent again."
            act={() => sendLostAgain(webhookRef)}
          />
        </p>
      )}
      <ul className="activity">
        {data.lost.map(({ message, type, website, happenedAt, attempts, status, error: failure }) => (
          <li key={message}>
            <Clock ms={happenedAt} />
            <div>
              <strong>{eventWords(type)}</strong>
              <p>
                {website} · <Status status={status} code={failure} /> after {attempts}{' '}
                {attempts === 1 ? 'try' : 'tries'}
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function WebhookAttempts(ref: WebhookRef): ReactNode {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(webhookAttemptsQuery(ref))
  const attempts = data?.pages.flatMap((page) => page.attempts) ?? []
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="attempts" />
      ) : attempts.length === 0 ? (
        <p className="question">There was none yet. Send a test to see whether it arrives.</p>
      ) : (
        <AttemptTable attempts={attempts} />
      )}
      {hasNextPage && (
        <p className="more">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older attempts
          </Button>
        </p>
      )}
    </section>
  )
}

function AttemptTable({ attempts }: { readonly attempts: readonly WebhookAttempt[] }): ReactNode {
  return (
    <div className="wide">
      <table className="list stacks deliveries">
        <TableHead columns={['When', 'What', 'State', 'Answer']} />
        <tbody>
          {attempts.map(({ message, number, type, website, startedAt, state, status, error, answer }) => (
            <tr key={`${message}/${number}`}>
              <th scope="row">
                <Clock ms={startedAt} />
                <small>{message}</small>
              </th>
              <td>
                {eventWords(type)}
                <small translate="no">{website}</small>
              </td>
              <td>
                {ATTEMPT_WORDS[state] ?? state}
                {number > 1 && <small>try {number}</small>}
              </td>
              <td>
                {status === 0 && error === '' ? (
                  <span className="none">none yet</span>
                ) : (
                  <Status status={status} code={error} />
                )}
                {answer !== '' && <small className="words">{answer}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
