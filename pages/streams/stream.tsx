/** One log stream: how far it is, what was left out, what its receiver answered, and actions on it. */

import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { isAtLeast } from '../../domain/people/roles.ts'
import { prettyText } from '../parts/lines/bodies.ts'
import { Status } from '../parts/lines/line-table.tsx'
import { shownCount } from '../parts/numbers.tsx'
import { Failed, Loading, NotFound, Page, Problem } from '../parts/states.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Between, Clock, Moment } from '../parts/time.tsx'
import { useOrganization, type OwnOrganization } from '../shell/organization.tsx'
import { Action } from './action.tsx'
import { NewSecret } from './new-secret.tsx'
import {
  actOnStream,
  changeStreamSecret,
  streamAttemptsQuery,
  streamsQuery,
  type ListedStream,
  type StreamRef,
} from './streams-data.ts'
import { targetText } from './streams.tsx'
import { ATTEMPT_WORDS, gapWords, streamWords } from './words.ts'

export function StreamPage(): ReactNode {
  const organization = useOrganization()
  const { stream = '' } = useParams({ strict: false })
  return organization === null ? null : <OneStream organization={organization} name={stream} />
}

function OneStream({
  organization,
  name,
}: {
  readonly organization: OwnOrganization
  readonly name: string
}): ReactNode {
  const { data, error } = useQuery(streamsQuery(organization.id))
  if (data === undefined) return error === null ? <Loading what="the log stream" /> : <Failed error={error} />
  const stream = data.find((each) => each.name === name)
  if (stream === undefined) return <NotFound />
  const ref = { organization: organization.id, stream: name }
  return (
    <Page title={stream.displayName ?? name} question="Does this log stream arrive?">
      <StreamState stream={stream} organization={organization.id} />
      {isAtLeast(organization.role, 'Admin') && <StreamActions streamRef={ref} stream={stream} />}
      <Gaps stream={stream} />
      <StreamAttempts {...ref} />
    </Page>
  )
}

function StreamState({
  stream,
  organization,
}: {
  readonly stream: ListedStream
  readonly organization: string
}): ReactNode {
  const { tone, words } = streamWords(stream)
  const { namespace, name, delivered, dropped, deliveredAt, retryAt } = stream
  return (
    <>
      <p className={`status ${tone}`}>{words}</p>
      <dl className="facts">
        <dt>To</dt>
        <dd>{targetText(stream)}</dd>
        <dt>Sent in all</dt>
        <dd>
          {shownCount(delivered)} records
          {deliveredAt !== null && (
            <>
              , last at <Moment ms={deliveredAt} />
            </>
          )}
        </dd>
        <dt>Left out</dt>
        <dd>{dropped === 0 ? 'none' : `${shownCount(dropped)} records`}</dd>
        {retryAt !== null && (
          <>
            <dt>Next try</dt>
            <dd>
              <Moment ms={retryAt} />
            </dd>
          </>
        )}
        <dt>Object</dt>
        <dd>
          <Link
            to="/app/$organization/resources/$kind/$namespace/$name"
            params={{ organization, kind: 'LogStream', namespace, name }}
          >
            {name}
          </Link>
        </dd>
      </dl>
    </>
  )
}

const SPANS_AGAIN = [
  { name: 'hour', ms: HOUR_MS },
  { name: 'day', ms: DAY_MS },
  { name: '7 days', ms: 7 * DAY_MS },
] as const

function StreamActions({
  streamRef,
  stream,
}: {
  readonly streamRef: StreamRef
  readonly stream: ListedStream
}): ReactNode {
  const { organization } = streamRef
  const act = (...which: Parameters<typeof actOnStream> extends [StreamRef, ...infer Rest] ? Rest : never) =>
    actOnStream(streamRef, ...which)
  return (
    <div className="buttons stream-actions">
      <Action
        organization={organization}
        title="Send a test"
        done="A test is on its way: it appears below within seconds."
        act={() => act('test')}
      />
      {stream.paused ? (
        <Action
          organization={organization}
          title="Resume"
          done="It resumes where it stopped."
          act={() => act('resume')}
        />
      ) : (
        <Action
          organization={organization}
          title="Pause"
          question="New records are kept for seven days, at most a million of them."
          done="It is paused."
          act={() => act('pause')}
        />
      )}
      {stream.behind > 0 && (
        <Action
          organization={organization}
          title="Skip pending records"
          question={`${shownCount(stream.behind)} records will not be sent. The receiver is informed, and they stay in Logs.`}
          done="They are skipped within seconds."
          act={() => act('skip')}
        />
      )}
      {SPANS_AGAIN.map(({ name, ms }) => (
        <Action
          key={name}
          organization={organization}
          title={`Send the last ${name} again`}
          question="The receiver gets these records once more, in new batches with the same record IDs."
          done="They are sent again, after what is on its way."
          act={() => act('resend', { since: Date.now() - ms })}
        />
      ))}
      {stream.to === 'webhook' && stream.origin?.by === 'dashboard' && (
        <NewSecret organization={organization} make={() => changeStreamSecret(streamRef)} />
      )}
    </div>
  )
}

function Gaps({ stream: { gaps } }: { readonly stream: ListedStream }): ReactNode {
  if (gaps.length === 0) return null
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">What was left out</h2>
      <ul className="gaps">
        {gaps.map((gap, place) => (
          <li key={place}>
            {gapWords(gap)}
            {gap.from !== null && gap.to !== null && (
              <>
                , <Between since={gap.from} until={gap.to} />
              </>
            )}
            . {gap.toldAt === null ? 'The next batch informs the receiver.' : 'The receiver was informed.'}
          </li>
        ))}
      </ul>
    </section>
  )
}

function StreamAttempts(ref: StreamRef): ReactNode {
  const { data, error } = useQuery(streamAttemptsQuery(ref))
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">The last attempts</h2>
      <Problem error={error} />
      {data === undefined ? (
        error === null && <Loading what="attempts" />
      ) : data.length === 0 ? (
        <p className="question">There was none yet. Send a test to see whether it arrives.</p>
      ) : (
        <div className="wide">
          <table className="list stacks">
            <TableHead columns={['When', 'What', 'Answer', { number: 'ms' }]} />
            <tbody>
              {data.map(({ id, kind, at, records, status, error: failure, answer, tookMs }) => (
                <tr key={id}>
                  <th scope="row">
                    <Clock ms={at} />
                    <small>{id}</small>
                  </th>
                  <td>
                    {ATTEMPT_WORDS[kind] ?? kind}
                    {kind === 'batch' && <small>{shownCount(records)} records</small>}
                  </td>
                  <td>
                    <Status status={status} code={failure ?? ''} />
                    {answer !== '' && <small className="words">{prettyText(answer)}</small>}
                  </td>
                  <td className="number" data-label="ms">
                    {Math.round(tookMs)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
