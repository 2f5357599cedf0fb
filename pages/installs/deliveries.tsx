/** Each delivery of an install: its state and why, every attempt, and the provider's exact answers. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { AttemptFacts } from '../data/installs.ts'
import { sentenceOfReason } from '../deliveries/words.ts'
import { prettyText } from '../parts/lines/bodies.ts'
import { statusText } from '../parts/install-words.ts'
import { Status } from '../parts/lines/line-table.tsx'
import { Moment } from '../parts/time.tsx'
import { deadlineOf, isStillOpen, type DeliveryLane } from './story.ts'

interface DeliveriesProps {
  readonly organization: string
  readonly lanes: readonly DeliveryLane[]
}

export function Deliveries({ organization, lanes }: DeliveriesProps): ReactNode {
  if (lanes.length === 0) return null
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      {lanes.map((lane) => (
        <OneDelivery key={lane.destination} organization={organization} lane={lane} />
      ))}
    </section>
  )
}

function OneDelivery({
  organization,
  lane,
}: {
  readonly organization: string
  readonly lane: DeliveryLane
}): ReactNode {
  const { destination, provider, status, reason, delivery, attempts } = lane
  return (
    <article className="card delivery-card">
      <h3>
        {destination} <small>{provider}</small> <span className={`state ${status}`}>{statusText(status)}</span>
      </h3>
      <p>{sentenceOfReason(reason)}</p>
      <Outlook lane={lane} />
      {delivery !== null && delivery.detail !== '' && <p className="question">{delivery.detail}</p>}
      {attempts.length > 0 && (
        <ol className="attempts">
          {attempts.map((attempt, place) => (
            <Attempt key={attempt.attempt_id} attempt={attempt} before={attempts[place - 1]} />
          ))}
        </ol>
      )}
      {attempts.length > 0 && delivery !== null && (
        <Link to="/app/$organization/logs" params={{ organization }} search={{ reference: delivery.job_id }}>
          These tries in Logs
        </Link>
      )}
    </article>
  )
}

function Outlook({ lane }: { readonly lane: DeliveryLane }): ReactNode {
  const deadline = deadlineOf(lane)
  const next = lane.delivery?.next_attempt_at_ms ?? null
  const parts: ReactNode[] = []
  if (isStillOpen(lane) && next !== null) parts.push(<Said key="next" what="Next try" ms={next} />)
  if (isStillOpen(lane) && deadline !== null)
    parts.push(<Said key="until" what="The provider takes it until" ms={deadline} />)
  if (lane.status === 'failed' && deadline !== null && deadline > Date.now())
    parts.push(<Said key="again" what="Can be sent again until" ms={deadline} />)
  return parts.length === 0 ? null : <p className="question">{parts}</p>
}

function Said({ what, ms }: { readonly what: string; readonly ms: number }): ReactNode {
  return (
    <span className="said">
      {what} <Moment ms={ms} />.{' '}
    </span>
  )
}

interface AttemptProps {
  readonly attempt: AttemptFacts
  readonly before: AttemptFacts | undefined
}

/** An answer that repeats the previous one is not shown again. */
function Attempt({ attempt, before }: AttemptProps): ReactNode {
  const { number, started_at_ms: at, response_status: status, code, duration_ms: span, response_body: answer } = attempt
  const isRepeat = answer !== '' && before?.response_body === answer
  return (
    <li>
      <p>
        Try {number}, <Moment ms={at} />: <Status status={status} code={code} /> in {Math.round(span)} ms
        {isRepeat && ', with the same answer'}
      </p>
      {answer !== '' && !isRepeat && (
        <pre translate="no" tabIndex={0} aria-label={`Answer to try ${number}`}>
          {prettyText(answer)}
        </pre>
      )}
      {before?.request_body !== attempt.request_body && (
        <details>
          <summary>What was sent</summary>
          <p className="address">{attempt.request_url}</p>
          <pre translate="no" tabIndex={0} aria-label={`Sent with try ${number}`}>
            {prettyText(attempt.request_body)}
          </pre>
        </details>
      )}
    </li>
  )
}
