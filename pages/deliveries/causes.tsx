/** Why deliveries failed for good, and what providers answer to attempts: by cause, each with one example. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import type { FilteredFigures } from '../data/period.ts'
import { prettyText } from '../parts/lines/bodies.ts'
import { Status } from '../parts/lines/line-table.tsx'
import { shownCount } from '../parts/numbers.tsx'
import { Clock } from '../parts/time.tsx'
import { MAY_COUNT_TWICE } from '../../domain/reasons.ts'
import type { DeliveryGroup } from '../../domain/delivery/counts.ts'
import type { DeliveryFigures, ShownError } from './deliveries-data.ts'
import { SendAgain } from './send-again.tsx'
import { adviceOf, sentenceOfReason } from './words.ts'

interface CausesProps {
  readonly organization: string
  readonly filters: FilteredFigures
  readonly figures: DeliveryFigures
}

export function DeadLetters({ mayReplay, ...props }: CausesProps & { readonly mayReplay: boolean }): ReactNode {
  const failed = props.figures.groups
    .filter(({ status }) => status === 'failed')
    .toSorted((a, b) => b.deliveries - a.deliveries)
  if (failed.length === 0) return null
  return (
    <section aria-labelledby="failed">
      <h2 id="failed">Failed for good</h2>
      <ul className="reasons">
        {failed.map((group) => (
          <DeadLetter
            key={`${group.website}/${group.destination}/${group.reason}`}
            group={group}
            mayReplay={mayReplay}
            {...props}
          />
        ))}
      </ul>
    </section>
  )
}

interface DeadLetterProps extends CausesProps {
  readonly group: DeliveryGroup
  readonly mayReplay: boolean
}

function DeadLetter({ organization, filters, group, mayReplay }: DeadLetterProps): ReactNode {
  const { website, destination, reason, deliveries, replayable } = group
  const search = { ...filters, website, destination, status: 'failed', reason }
  return (
    <li className="card">
      <h3>{destination}</h3>
      <p className="count">
        <Link to="/app/$organization/deliveries/list" params={{ organization }} search={search}>
          {shownCount(deliveries)} <span className="unseen">failed at {destination}</span>
        </Link>
      </p>
      <p>{sentenceOfReason(reason)}</p>
      <Seen group={group} organization={organization} />
      {replayable === 0 ? (
        <p className="todo">The provider would not accept {deliveries === 1 ? 'it' : 'any of them'} any more.</p>
      ) : (
        <p className="todo">
          {shownCount(replayable)} can still be sent.{' '}
          {mayReplay && (
            <SendAgain
              organization={organization}
              destination={destination}
              count={replayable}
              wanted={{ website, destination, reason }}
              mayCountTwice={reason === MAY_COUNT_TWICE}
            />
          )}
        </p>
      )}
    </li>
  )
}

export function ProviderErrors({ organization, filters, figures }: CausesProps): ReactNode {
  if (figures.errors.length === 0) return null
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">What providers answered</h2>
      <ul className="reasons answers">
        {figures.errors.map((error) => (
          <ProviderError
            key={`${error.website}/${error.destination}/${error.status}/${error.code}`}
            organization={organization}
            filters={filters}
            error={error}
          />
        ))}
      </ul>
    </section>
  )
}

function ProviderError({
  organization,
  filters,
  error,
}: Omit<CausesProps, 'figures'> & { readonly error: ShownError }): ReactNode {
  const { website, destination, status, code, deliveries, tries, words } = error
  const search = { ...filters, website, destination, answered: status, ...(code === '' ? {} : { code }) }
  return (
    <li className="card">
      <h3>
        <Status status={status} code={code} /> <small>{destination}</small>
      </h3>
      <p className="count">
        <Link to="/app/$organization/deliveries/list" params={{ organization }} search={search}>
          {shownCount(deliveries)}{' '}
          <span className="unseen">
            deliveries to {destination} were answered {status} {code}
          </span>
        </Link>
      </p>
      <p className="share">
        {shownCount(tries)} {tries === 1 ? 'try' : 'tries'}
      </p>
      {words !== '' && (
        <pre translate="no" tabIndex={0} aria-label={`What ${destination} answered`}>
          {prettyText(words)}
        </pre>
      )}
      <Seen group={error} organization={organization} />
      <p className="todo">
        <strong>What to do</strong> {adviceOf(status)}
      </p>
    </li>
  )
}

/** From when to when, and one of them. */
function Seen({
  organization,
  group,
}: {
  readonly organization: string
  readonly group: {
    readonly website: string
    readonly example: string
    readonly first_ms: number
    readonly last_ms: number
  }
}): ReactNode {
  const { website, example: event, first_ms: first, last_ms: last } = group
  return (
    <p className="question">
      {first === last ? (
        <>
          At <Clock ms={last} />.
        </>
      ) : (
        <>
          From <Clock ms={first} /> to <Clock ms={last} />.
        </>
      )}{' '}
      <Link to="/app/$organization/installs/$website/$event" params={{ organization, website, event }}>
        The latest of them
      </Link>
    </p>
  )
}
